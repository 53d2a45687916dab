"""A model that fails: it looks for the texts of another competition."""

import os
from pathlib import Path

essays = Path(os.environ["PODIUM_DATA"], "test")
print("reading the essays")
texts = [Path(essays, name).read_text(encoding="utf-8") for name in sorted(os.listdir(essays))]
