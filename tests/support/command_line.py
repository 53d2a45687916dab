"""The command line in this process."""

import pytest

from podium import cli


def run(capsys: pytest.CaptureFixture[str], *command: object) -> tuple[int, str, str]:
    """`podium COMMAND …`: exit code, stdout and stderr, in which there is never a traceback."""
    capsys.readouterr()
    try:
        code = cli.main([*map(str, command)])
    except SystemExit as stop:  # of argparse
        code = stop.code
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return code, captured.out, captured.err
