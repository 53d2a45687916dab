"""What holds for all tests."""

import os
import sys

from hypothesis import settings

# The tests start hundreds of processes: what one has compiled the others read, whatever the environment says.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# How many percent of its examples a test tries (tests/support/examples.py).  `.ci/run` asks for all of them.
settings.register_profile("some", max_examples=25, deadline=None)
settings.register_profile("all", max_examples=100, deadline=None)
settings.load_profile("some")
