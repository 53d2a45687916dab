"""Play the container engine that the first argument names: record the other arguments, and run the "image" as a
Python program.

The folder FAKE_IMAGES has an image's program under the image's name, with / and : replaced. An image that is
not there cannot be pulled. A container is a folder below FAKE_IMAGES.
"""

import csv
import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

CORES = "source=/sys/devices/system/cpu"  # which this stand-in does not show
home = Path(os.environ["FAKE_IMAGES"])
name_of_engine, *arguments = sys.argv[1:]
with (home / "calls.jsonl").open("a") as calls:
    calls.write(json.dumps([name_of_engine, *arguments]) + "\n")


def program(image: str) -> Path:
    """The program that stands for an image."""
    return home / image.replace("/", "_").replace(":", "_")


def option(name: str) -> str:
    """The argument after an option."""
    return arguments[arguments.index(name) + 1]


def execute(path: Path, working: str, data: str) -> int:
    """Run a model's program, and return its exit code."""
    environment = {"PATH": os.environ["PATH"], "PODIUM_DATA": data}
    return subprocess.run([sys.executable, path], cwd=working, env=environment).returncode


match arguments:
    case ["version", *_]:
        if (home / "down").exists():
            sys.exit("Cannot connect to the daemon")
    case ["ps", "--all", "--filter", "name=podium-", *_, "--format", "{{.Names}}"]:
        print(*(path.name for path in home.glob("podium-*")), sep="\n")
    case ["image", "inspect", image]:
        sys.exit(not (program(image).exists() and (home / "pulled").exists()))
    case ["image", "inspect", "--format", "{{json .Config.Volumes}}", image]:
        print('{"/vol": {}}' if "VOLUME" in program(image).read_text() else "null")
    case ["pull", *_, image]:
        if not program(image).exists():
            sys.exit(f"Error: no such image \x1b[31m{image}")
    case ["create", *_, image]:
        mounts = [word for word in arguments if word.startswith("type=bind")]
        sources = [
            part[7:] for part in chain(*csv.reader(mounts)) if part.startswith("source=") and part != CORES
        ]
        [profile] = [word[8:] for word in arguments if word.startswith("seccomp=")]
        (home / "profile.json").write_bytes(Path(profile).read_bytes())
        (home / option("--name")).write_text(json.dumps([image, *sources]))
    case ["start", "--attach", name]:
        image, data, working = json.loads((home / name).read_text())
        start = datetime.now(UTC)
        time.sleep(0.2)
        code = execute(program(image), working, data)
        state = {
            "StartedAt": start.isoformat().replace("+00:00", "789Z"),
            "FinishedAt": datetime.now(UTC).isoformat(),
            "ExitCode": code,
            "OOMKilled": code == 137,
        }
        (home / f"{name}.state").write_text(json.dumps(state))
        sys.exit(code)
    case ["inspect", "--format", "{{json .State}}", name]:
        print((home / f"{name}.state").read_text())
    case ["kill", _]:
        pass
    case ["rm", "--force", name]:
        (home / name).unlink()
    case _:
        sys.exit(f"unknown: {arguments}")
