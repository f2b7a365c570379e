"""The customer's own index: one interface, and a module for each back end."""
