"""Where some sites have node-local storage, and how a job finds it."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from course_utils.scratch.storage_kind import Kind


class ScratchError(RuntimeError):
    """Staging is impossible; the message says what to do."""


class Preset(NamedTuple):
    """What a site's documentation says; `storage_of` says what it is on this node.

    Attributes:
        site: The site.
        folder: A path, or a variable of the job's environment, with `$`.
        kind: What the folder is stored on.
        request: What a batch script needs, or an empty string.
        note: What to know about it.
        url: The site's page.
        read: When that page was read.
    """

    site: str
    folder: str
    kind: Kind
    request: str
    note: str
    url: str
    read: str


PRESETS = {
    "snellius": Preset(
        "Snellius (SURF)",
        "$TMPDIR",
        "local disk",
        "#SBATCH --constraint=scratch-node",
        "Only some nodes have the NVMe disk behind /scratch-node; TMPDIR points to it on those alone. It is "
        "deleted when the job ends.",
        "https://servicedesk.surf.nl/wiki/display/WIKI/Snellius+filesystems",
        "2026-11-22",
    ),
    "lumi": Preset(
        "LUMI (CSC)",
        "/tmp",
        "memory",
        "",
        "Compute nodes have no disk for jobs: /tmp is memory and counts towards that of the job, which ends "
        "when it has used too much.",
        "https://docs.lumi-supercomputer.eu/storage/",
        "2026-11-22",
    ),
    "alliance-canada": Preset(
        "Digital Research Alliance of Canada",
        "$SLURM_TMPDIR",
        "local disk",
        "",
        "Slurm makes the folder on each node of the job, and deletes it when the job ends.",
        "https://docs.alliancecan.ca/wiki/Using_node-local_storage",
        "2026-11-22",
    ),
    "finisterrae": Preset(
        "FinisTerrae III (CESGA)",
        "$LOCAL_SCRATCH",
        "local disk",
        "",
        "$TMPSHM is a folder in memory, which counts towards the limit of the job.",
        "https://cesga-docs.gitlab.io/ft3-user-guide/scratch_dirs.html",
        "2026-11-22",
    ),
    "bih": Preset(
        "BIH HPC (Charité)",
        "/tmp",
        "local disk",
        "",
        "Slurm's plugin job_container/tmpfs shows each job a /tmp of its own, and deletes it afterwards. "
        "Space there is requested as localtmp.",
        "https://hpc-docs.cubi.bihealth.org/slurm/temporary-files/",
        "2026-11-22",
    ),
    "shm": Preset(
        "any Linux",
        "/dev/shm",
        "memory",
        "",
        "Half of the memory at most, unless it was mounted otherwise. What processes leave there stays until "
        "it is deleted, or the node restarts.",
        "https://docs.kernel.org/filesystems/tmpfs.html",
        "2026-11-22",
    ),
}
# Tried in this order where no preset is named: only jobs have the first ones.
USUAL = ("$SLURM_TMPDIR", "$LOCAL_SCRATCH", "$TMPDIR", "/tmp")


def find_scratch(environment: Mapping[str, str], preset: str = "") -> Path:
    """Return the folder of a preset, or without one the first usual folder that this machine has.

    Args:
        environment: Variables of the job, `os.environ`.
        preset: A name in `PRESETS`.

    Raises:
        ScratchError: The preset is not known, or this machine does not have its folder.
    """
    if not preset:
        found = (_folder(name, environment) for name in USUAL)
        return next(folder for folder in (*found, Path.cwd()) if folder and folder.is_dir())
    if preset not in PRESETS:
        raise ScratchError(f"there is no preset {preset!r}; there are {', '.join(PRESETS)}")
    chosen = PRESETS[preset]
    folder = _folder(chosen.folder, environment)
    if folder is None:
        request = f" The batch script needs {chosen.request}." if chosen.request else ""
        raise ScratchError(f"{chosen.folder} is not set here: on {chosen.site} a job has it.{request}")
    if not folder.is_dir():
        raise ScratchError(f"there is no folder {folder}, which {chosen.site} has; see {chosen.url}")
    return folder


def _folder(name: str, environment: Mapping[str, str]) -> Path | None:
    path = environment.get(name[1:], "") if name.startswith("$") else name
    return Path(path) if path else None
