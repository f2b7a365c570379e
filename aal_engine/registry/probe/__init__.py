"""Calling agents safely: one agent, one connection, bounded in time, bytes and reach."""
