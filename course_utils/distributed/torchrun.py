"""Start a program on several ranks of this machine with torchrun, and end all of them whatever happens."""

import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from course_utils.system import kill_process_tree


class RanksFailedError(RuntimeError):
    """A rank ended with an error, or the ranks took too long; the message holds the end of their output."""


def torchrun_command(module: str, arguments: Sequence[str | Path], ranks: int) -> str:
    """Return the command that a user would type."""
    return shlex.join(
        ["torchrun", "--standalone", f"--nproc-per-node={ranks}", "-m", module, *map(str, arguments)]
    )


def run_ranks(module: str, arguments: Sequence[str | Path], ranks: int = 2, limit: float = 180) -> str:
    """Run `torchrun -m module arguments` on this machine; return what it printed.

    Torchrun chooses a free port of the loopback interface. What it and the ranks print, warnings too, is
    shown only if something fails.

    Args:
        module: Name of the program's module.
        arguments: Of the program.
        ranks: Number of processes.
        limit: Seconds until all of them are killed.

    Raises:
        RanksFailedError: A rank failed, or the limit was reached.
    """
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    process = subprocess.Popen(
        [*command, "-m", module, *map(str, arguments)],
        env={**os.environ, **_settings()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        output, _ = process.communicate(timeout=limit)
    except BaseException as error:
        kill_process_tree(process)
        if isinstance(error, subprocess.TimeoutExpired):
            raise RanksFailedError(f"{module}: the ranks took more than {limit} s and were killed") from None
        raise
    if process.returncode:
        raise RanksFailedError(f"{module}: a rank failed. The end of its output:\n{output[-3000:]}")
    return output


def _settings() -> dict[str, str]:
    """Return environment variables: one thread per rank, and connections inside this machine."""
    loopback = next((name for _, name in socket.if_nameindex() if name.startswith("lo")), None)
    return {"OMP_NUM_THREADS": "1"} | ({"GLOO_SOCKET_IFNAME": loopback} if loopback else {})
