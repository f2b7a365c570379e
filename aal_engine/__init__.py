"""The release gate for agents that retrieve and answer.

Floors, from the ground up: `errors`, `canonical`, then `measure` (numbers), `decide` (rules),
`store` (disk), `service` (acts), `api` and `agent` (doors). A module imports only from floors
below its own; `README.md` beside this file says why.
"""

__version__ = "0.1.0"
