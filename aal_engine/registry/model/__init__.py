"""The registry's values: agents, suites, runs, results, accounts."""
