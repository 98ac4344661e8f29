"""Run a command of a deployment, whose failure says what to do."""

import subprocess
from pathlib import Path


class DeployError(RuntimeError):
    """A step failed; the message says what to do."""


def run(*command: str | Path) -> str:
    """Run a command and return what it prints.

    Raises:
        DeployError: It is not installed, or fails.
    """
    try:
        arguments = [str(argument) for argument in command]
        return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError as error:
        raise DeployError(f"{command[0]} is not installed: {error}") from error
    except subprocess.CalledProcessError as error:
        tail = (error.stderr or error.stdout).strip()[-2000:]
        raise DeployError(f"this command failed: {' '.join(map(str, command))}\n{tail}") from error
