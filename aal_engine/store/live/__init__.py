"""Live agents: one interface, a module for each protocol, and the journal of what they answered."""
