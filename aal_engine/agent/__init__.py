"""The command-line doors: `python -m aal_engine.agent.NAME`."""

import os

# No door does linear algebra, and threads that wait for some cost each start 0.1 s of CPU.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
