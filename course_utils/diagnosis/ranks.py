"""Which rank this process is, and the folder that the ranks of a node share."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple


class Run(NamedTuple):
    """The records of one run on this node.

    Attributes:
        folder: Where all of its processes write.
        size: Ranks on this node.
        keep: Whether the folder stays.
    """

    folder: Path
    size: int
    keep: bool

    @classmethod
    def begin(cls, keep: str | None) -> "Run":
        """Make the folder, or find that of the ranks that were started with this one.

        Raises:
            SystemExit: `keep` holds the records of another run, which would be judged with this one.
        """
        variables = os.environ
        size = int(variables.get("LOCAL_WORLD_SIZE") or _slurm_size())
        if keep:
            folder = Path(keep)
            if size < 2 and any(folder.glob("main-*.jsonl")):
                raise SystemExit(f"diagnosis: {keep} holds the records of another run, name another folder")
        elif size > 1:
            run = variables.get("TORCHELASTIC_RUN_ID") or variables.get("SLURM_STEP_ID", "0")
            job, port = variables.get("SLURM_JOB_ID", "0"), variables.get("MASTER_PORT", os.getppid())
            name = f"diagnosis-{os.getuid()}-{job}-{run}-{port}"
            folder = Path(tempfile.gettempdir()) / name
        else:
            folder = Path(tempfile.mkdtemp(prefix="diagnosis-"))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if size > 1:
            (folder / f"rank-{os.getpid()}").touch()
        return cls(folder, size, bool(keep))

    def is_last(self) -> bool:
        """Say that this rank has ended; the last of them reports. One that was killed has ended, too."""
        if self.size < 2:
            return True
        (self.folder / f"ended-{os.getpid()}").touch()
        ranks = [int(path.name.partition("-")[2]) for path in self.folder.glob("rank-*")]
        ended = [pid for pid in ranks if (self.folder / f"ended-{pid}").exists() or not _is_alive(pid)]
        if len(ended) < max(self.size, len(ranks)):
            return False
        try:
            (self.folder / "reported").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def end(self) -> None:
        """Remove the records."""
        if not self.keep:
            shutil.rmtree(self.folder, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _slurm_size() -> int:
    tasks, nodes = os.environ.get("SLURM_NTASKS", "1"), os.environ.get("SLURM_NNODES", "1")
    in_step = "SLURM_STEP_ID" in os.environ and os.environ.get("SLURM_STEP_ID") != "batch"
    return max(int(tasks) // int(nodes), 1) if in_step and tasks.isdigit() and nodes.isdigit() else 1
