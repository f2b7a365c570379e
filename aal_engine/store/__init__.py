"""Disk: reading and writing what the floors below define."""
