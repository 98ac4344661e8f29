"""Run a batch script without Slurm: stand-ins for `srun` and `scontrol`, and a queue of one job.

The stand-ins do what this course's batch scripts need of Slurm and nothing else: `srun` starts the tasks on
this machine and passes a signal to them, `scontrol requeue` lets the script start again.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from course_utils.system import kill_process_tree

SRUN = """\
#!/bin/bash
# Starts SLURM_NTASKS tasks on this machine, or --ntasks; a signal reaches all of them.
while [[ $1 == --* ]]; do
    [[ $1 == --ntasks=* ]] && export SLURM_NTASKS=${1#*=}
    shift
done
trap 'kill -USR1 "${tasks[@]}" 2>/dev/null' USR1
for ((number = 0; number < SLURM_NTASKS; number++)); do
    SLURM_PROCID=$number SLURM_LOCALID=$number "$@" &
    tasks+=("$!")
done
status=0
for task in "${tasks[@]}"; do
    wait "$task"
    while kill -0 "$task" 2>/dev/null; do wait "$task"; done
    wait "$task" || status=$?
done
exit "$status"
"""
SCONTROL = """\
#!/bin/bash
case "$1" in
show) echo 127.0.0.1 ;;
requeue) touch "$0.requeued" ;;
esac
"""


class JobRun(NamedTuple):
    """A job that has ended.

    Attributes:
        starts: How often the script was started.
        status: Exit status of the last start.
        output: What all starts have written.
    """

    starts: int
    status: int
    output: str


def run_without_slurm(script: Path, signals: Sequence[Callable[[], bool]] = (), limit: float = 120) -> JobRun:
    """Run a batch script until it no longer asks to be queued again.

    Args:
        script: Its folder is the working directory.
        signals: When the first start gets Slurm's signal, when the second, and so on: functions that are
            asked from time to time.
        limit: Seconds after which everything is killed.

    Raises:
        TimeoutError: The limit was reached.
    """
    deadline, starts, output = time.monotonic() + limit, 0, ""
    with tempfile.TemporaryDirectory() as folder:
        requeued = _stand_ins(Path(folder))
        while True:
            is_due = signals[starts] if starts < len(signals) else lambda: False
            environment = {**_environment(script, Path(folder)), "SLURM_RESTART_COUNT": str(starts)}
            status, text = _start(script, environment, is_due, deadline)
            starts, output = starts + 1, output + text
            if not requeued.exists():
                return JobRun(starts, status, output)
            requeued.unlink()


def _stand_ins(folder: Path) -> Path:
    """Write the stand-ins; return the file that says that the job is to start again."""
    for name, text in (("srun", SRUN), ("scontrol", SCONTROL)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder / "scontrol.requeued"


def _environment(script: Path, stand_ins: Path) -> dict[str, str]:
    """Return what Slurm would set for this script, as far as it is needed."""
    asked = dict(
        re.findall(r"^#SBATCH --(nodes|ntasks-per-node|cpus-per-task)=(\d+)", script.read_text(), re.M)
    )
    return {
        **os.environ,
        "PATH": os.pathsep.join([str(stand_ins), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "SLURM_JOB_ID": str(os.getpid()),
        "SLURM_JOB_NODELIST": "localhost",
        "SLURM_NNODES": asked["nodes"],
        "SLURM_NTASKS": str(int(asked["nodes"]) * int(asked["ntasks-per-node"])),
        "SLURM_CPUS_PER_TASK": asked["cpus-per-task"],
    }


def _start(
    script: Path, environment: dict[str, str], is_due: Callable[[], bool], deadline: float
) -> tuple[int, str]:
    """Run the script once, with a signal when it is due; return its status and output."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            ["bash", script.name], cwd=script.parent, env=environment, stdin=subprocess.DEVNULL,
            stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            while process.poll() is None:
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{script} took too long and was killed")
                if is_due():
                    process.send_signal(signal.SIGUSR1)
                    is_due = lambda: False  # noqa: E731
                time.sleep(0.05)
        except BaseException:
            kill_process_tree(process)
            raise
        log.seek(0)
        return process.returncode, log.read()
