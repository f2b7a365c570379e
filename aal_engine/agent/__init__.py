"""The command-line doors: `python -m aal_engine.agent.NAME`."""
