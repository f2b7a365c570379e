"""Rules over records: policy, gate, ledger. Pure: no file, clock, network or randomness."""
