"""Acts: what a door asks for, from reading inputs to writing results."""
