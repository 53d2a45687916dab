"""Run the worker, and start it again whenever it ends, as it does at the first error of the network."""

import subprocess
import sys
import time
from pathlib import Path

SECONDS_OF_REST = 30

while True:
    ended = subprocess.run([sys.executable, "main.py"], cwd=Path(__file__).parent)
    print(
        f"The worker ended with exit code {ended.returncode} and is started again.", file=sys.stderr, flush=True
    )
    time.sleep(SECONDS_OF_REST)
