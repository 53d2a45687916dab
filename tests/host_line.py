"""`host.py` as its users run it, in this process, and the metric files that the project has."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import host
from competition import kernel
from competition.errors import run

ROOT = Path(host.__file__).parent
SOLUTION, SUBMISSION = ROOT / "solution_sample.csv", ROOT / "sample_submission.csv"

# Every metric file with a solution and a submission to it.
METRICS = [
    pytest.param(ROOT / "metric.py", SOLUTION, SUBMISSION, id="metric"),
    *(
        pytest.param(
            path, samples / "solution.csv", samples / "submission.csv", id=path.stem, marks=pytest.mark.slow
        )
        for path in sorted((ROOT / "metrics").glob("*.py"))
        if (samples := ROOT / "metrics" / "samples" / path.stem).is_dir()
    ),
]
every_metric = pytest.mark.parametrize(("path", "solution", "submission"), METRICS)


def run_host(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of a command."""
    try:
        code = run(host.main, [str(argument) for argument in arguments])
    except SystemExit as stop:  # argparse
        code = int(str(stop.code))
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return code, captured.out, captured.err


def stay_in_process(monkeypatch: pytest.MonkeyPatch, folder: Path, module: ModuleType) -> None:
    """Let a module do in this process what it would do in a fresh one, and undo it afterwards."""

    def run_here(do: str, **task: Any) -> dict[str, Any]:
        with monkeypatch.context() as context:
            context.setitem(sys.modules, "__main__", sys.modules["__main__"])
            context.setattr(sys, "argv", sys.argv)
            context.setattr(sys, "path", sys.path.copy())
            context.setattr(sys, "dont_write_bytecode", True)
            context.chdir(folder)
            sys.modules.pop(kernel.MODULE, None)
            work: Any = {"check": kernel.check, "import": kernel.import_module, "score": kernel.score}[do]
            answer: dict[str, Any] = work(**task)
            return answer

    monkeypatch.setattr(module, "run_fresh", run_here)
