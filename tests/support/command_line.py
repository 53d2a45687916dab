"""Run the command line in this process."""

import pytest

from podium import cli


def run(capsys: pytest.CaptureFixture[str], *command: object) -> tuple[int, str, str]:
    """Run `podium COMMAND …`, and return exit code, stdout and stderr after checking that there is no
    traceback.
    """
    capsys.readouterr()
    try:
        code = cli.main([*map(str, command)])
    except SystemExit as stop:  # of argparse
        code = stop.code
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return code, captured.out, captured.err
