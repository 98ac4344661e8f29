"""Where some sites have node-local storage, how a job finds it, and what they delete: `sites.toml`."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

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


class Expiry(NamedTuple):
    """A shared folder whose files are deleted by age.

    Attributes:
        site: The site.
        folder: Where.
        days: Files that are older are deleted.
        url: The site's page.
        read: When that page was read.
    """

    site: str
    folder: str
    days: int
    url: str
    read: str


SITES: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("sites.toml").read_text("utf-8"))
PRESETS = {
    name: Preset(**{"request": "", **site["scratch"]}, site=site["name"])
    for name, site in SITES.items()
    if "scratch" in site
}
EXPIRIES = [Expiry(site=site["name"], **item) for site in SITES.values() for item in site.get("expires", [])]
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


def expiry_of(path: Path) -> str:
    """Return when files below a path are deleted, as a sentence; empty where no site says that of it."""
    for expiry in EXPIRIES:
        if path.is_relative_to(expiry.folder):
            return f"{expiry.site} deletes files in {expiry.folder} that are older than {expiry.days} days"
    return ""


def _folder(name: str, environment: Mapping[str, str]) -> Path | None:
    path = environment.get(name[1:], "") if name.startswith("$") else name
    return Path(path) if path else None
