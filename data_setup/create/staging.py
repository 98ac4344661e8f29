"""Check the target folder and prepare its staging directory; nothing that exists is ever overwritten."""

import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TypedDict

from course_utils.system import create_atomically
from data_setup.format import (
    FORMS,
    MANIFEST,
    RAW,
    SIZES,
    Identity,
    SetupError,
    StagingDirectory,
    check_manifest,
    read_files,
    read_header,
)


class Plan(TypedDict):
    """What is being made in a staging directory: the identity of the set, and the name of each label."""

    identity: Identity
    classes: list[str]


def set_identity(source: Identity, shards: int) -> Identity:
    """Return what determines every byte of a set: the identity of its source, and the number of shards."""
    return source | {"shards": shards}


def is_finished(out: Path, identity: Identity) -> bool:
    """Return whether a folder already holds the requested set.

    Args:
        out: Folder of the set.
        identity: What determines every byte of it.

    Raises:
        SetupError: The folder holds another set, or any file is missing or has another size.
    """
    manifest = out / MANIFEST
    if not manifest.exists():
        return False
    header = read_header(manifest)
    if not _is_same(header["identity"], identity):
        raise SetupError(
            f"{out} holds {describe_identity(header['identity'])}; you asked for "
            f"{describe_identity(identity)}. Nothing was changed. Choose another folder "
            "(COURSE_DATA=FOLDER, or --out), or move the old set away first."
        )
    require_complete(out)
    _remove_leftovers(StagingDirectory(out), identity)
    return True


def _is_same(found: Identity, wanted: Identity) -> bool:
    """Compare identities; version 1.0 did not know the sizes of the files of a collection."""
    if SIZES not in found:
        wanted = {key: value for key, value in wanted.items() if key != SIZES}
    return found == wanted


def require_complete(out: Path) -> None:
    """Compare the size of each file of a set with the manifest.

    Raises:
        SetupError: One is missing or has another size, or the manifest was changed.
    """
    for problem in _first_problems(out):
        raise SetupError(
            f"{out} is damaged: {problem}. `python -m data_setup verify` lists all problems; move the folder "
            "away and run this command again to make the set anew."
        )


def _first_problems(out: Path) -> Iterator[str]:
    sizes = read_header(out / MANIFEST)["parts"].items()
    yield from check_manifest(out / MANIFEST)
    for name, size in chain(sizes, ((file.path, file.size) for file in read_files(out / MANIFEST))):
        try:
            if (out / name).stat().st_size == size:
                continue
        except (FileNotFoundError, NotADirectoryError):
            pass
        yield f"{name} is missing or has another size"


def _remove_leftovers(staging: StagingDirectory, identity: Identity) -> None:
    """Remove the staging directory of a command that was killed just before it would have done so."""
    if staging.root.exists():
        plan = read_plan(staging)
        if plan is None or _is_same(plan["identity"], identity):
            remove_staging(staging)


def remove_staging(staging: StagingDirectory) -> None:
    """Remove a staging directory; what a network filesystem keeps there is left to the next command.

    The plan is removed last: without it, the rest might be taken for parts of another set.
    """
    for path in staging.root.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path != staging.plan:
            path.unlink(missing_ok=True)
    if all(path == staging.plan for path in staging.root.iterdir()):
        staging.plan.unlink(missing_ok=True)
        with suppress(OSError):
            staging.root.rmdir()
    for lock in staging.out.glob(staging.lock("shard*").name):
        lock.unlink(missing_ok=True)


def read_plan(staging: StagingDirectory) -> Plan | None:
    """Return what is being made in a staging directory, or None if there is nothing yet.

    Raises:
        SetupError: The plan is damaged.
    """
    if not staging.plan.exists():
        return None
    try:
        plan = json.loads(staging.plan.read_bytes())
        if not isinstance(plan["identity"]["shards"], int):
            raise ValueError("the number of shards is none")
        return Plan(identity=dict(plan["identity"]), classes=list(plan["classes"]))
    except (ValueError, KeyError, TypeError) as error:
        raise SetupError(f"{staging.plan} is damaged. Delete {staging.root}, then run this again.") from error


def open_staging(out: Path, identity: Identity, classes: list[str]) -> StagingDirectory:
    """Create the staging directory of a set, or open that of an unfinished set.

    Args:
        out: Folder of the set.
        identity: What determines every byte of it.
        classes: The name of each label; empty where labels have no names.

    Raises:
        SetupError: Something else is there, or is being made there.
    """
    staging = StagingDirectory(out)
    plan = read_plan(staging)
    if plan is None:
        _refuse_unknown_forms(out)
        staging.root.mkdir(parents=True, exist_ok=True)
        wanted = Plan(identity=identity, classes=classes)
        create_atomically(staging.plan, [json.dumps(wanted).encode()])
        plan = read_plan(staging) or wanted  # perhaps that of a command that was faster
    if not _is_same(plan["identity"], identity):
        raise SetupError(
            f"{staging.root} holds an unfinished set: {describe_identity(plan['identity'])}; you asked for "
            f"{describe_identity(identity)}. Finish it with the command that began it, choose another folder "
            "(COURSE_DATA=FOLDER, or --out), or delete that one."
        )
    for form in FORMS:
        if not (out / form).exists():
            (staging.root / form).mkdir(exist_ok=True)
    return staging


def _refuse_unknown_forms(out: Path) -> None:
    found = [form for form in FORMS if (out / form).exists()]
    if found:
        raise SetupError(
            f"{out} already holds {', '.join(found)} without a {MANIFEST}. Nothing was changed. Choose "
            "another folder (COURSE_DATA=FOLDER, or --out), or keep the set that is there: "
            f"`python -m data_setup adopt --out {out}`."
        )


def check_free_space(out: Path, raw_bytes: int) -> None:
    """Check that the raw pixels will fit, before any work is done.

    Args:
        out: Folder of the set; it need not exist yet.
        raw_bytes: Size of the raw pixels in total.

    Raises:
        SetupError: They will not fit.
    """
    made = sum(path.stat().st_blocks * 512 for path in (StagingDirectory(out).root / RAW).glob("*"))
    existing = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    if raw_bytes - made > free:
        raise SetupError(
            f"{out} needs {(raw_bytes - made) / 1e6:,.0f} MB for the raw pixels alone, and that disk has "
            f"{free / 1e6:,.0f} MB free. Make room, choose another folder (COURSE_DATA=FOLDER, or --out), "
            "or ask for fewer images by --count"
        )


def describe_identity(identity: Identity) -> str:
    """Return the identity of a set in words."""
    fields = dict(identity)
    source = fields.pop("source", "a set of unknown source")
    details = ", ".join(f"{key} {value}" for key, value in fields.items())
    return f"{source} ({details})" if details else str(source)
