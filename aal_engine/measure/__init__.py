"""Numbers from golden sets and runs. Pure: no file, clock, network or randomness."""
