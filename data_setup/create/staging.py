"""What lies in the folder that a set is to go to; nothing that is there already is ever overwritten."""

import json
import shutil
from pathlib import Path

from data_setup.format import FORMS, MANIFEST, RAW, SetupError, Stage, read_header, write_atomically

Identity = dict[str, object]


def is_finished(out: Path, identity: Identity) -> bool:
    """Say whether the set that was asked for is there already.

    Args:
        out: The folder of the set.
        identity: What decides every byte of it.

    Raises:
        SetupError: Something else is there, or files of the set have gone.
    """
    manifest = out / MANIFEST
    if not manifest.exists():
        return False
    header = read_header(manifest)
    if header.get("identity") != identity:
        raise SetupError(
            f"{out} holds {describe(header.get('identity', {}))}; you asked for {describe(identity)}. "
            "Nothing was changed. Choose another folder with --out, or move the old set away first."
        )
    for name, size in header["parts"].items():
        path = out / name
        if not path.is_file() or path.stat().st_size != size:
            raise SetupError(
                f"{out} is damaged: {name} is missing or has another size. `python -m data_setup verify` "
                "lists all that is wrong; move the folder away and run this command again to make it anew."
            )
    _sweep(Stage(out), identity)
    return True


def _sweep(stage: Stage, identity: Identity) -> None:
    """Remove what a command that was killed after its very last rename has left of its own."""
    if stage.root.exists() and _begun(stage) in (None, identity):
        shutil.rmtree(stage.root)


def _begun(stage: Stage) -> Identity | None:
    return json.loads(stage.plan.read_text())["identity"] if stage.plan.exists() else None


def claim(out: Path, identity: Identity, classes: list[str]) -> Stage:
    """Begin a set in a folder, or go on with one that was begun there.

    Args:
        out: The folder of the set.
        identity: What decides every byte of it.
        classes: The name of each label, where labels have names.

    Returns:
        Where the set is being made.

    Raises:
        SetupError: Something else is there, or is being made there.
    """
    stage = Stage(out)
    begun = _begun(stage)
    if begun is not None:
        if begun != identity:
            raise SetupError(
                f"{stage.root} holds a set half made: {describe(begun)}; you asked for {describe(identity)}. "
                "Finish it with the command that began it, choose another --out, or delete that folder."
            )
    else:
        _refuse_strangers(out)
        stage.root.mkdir(parents=True, exist_ok=True)
        plan = {"identity": identity, "classes": classes}
        write_atomically(stage.plan, [json.dumps(plan).encode()])
    for form in FORMS:
        if not (out / form).exists():
            (stage.root / form).mkdir(exist_ok=True)
    return stage


def _refuse_strangers(out: Path) -> None:
    found = [form for form in FORMS if (out / form).exists()]
    if found:
        raise SetupError(
            f"{out} already holds {', '.join(found)} without a {MANIFEST}. Nothing was changed. Choose "
            "another folder with --out, or keep the set that is there: "
            f"`python -m data_setup adopt --out {out}`."
        )


def check_room(out: Path, raw_bytes: int) -> None:
    """See that the raw pixels will fit, before anybody waits for them.

    Args:
        out: The folder of the set; it need not exist yet.
        raw_bytes: What all of them take.

    Raises:
        SetupError: They will not fit.
    """
    made = sum(path.stat().st_blocks * 512 for path in (Stage(out).root / RAW).glob("*"))
    there = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.exists())
    free = shutil.disk_usage(there).free
    if raw_bytes - made > free:
        raise SetupError(
            f"{out} needs {(raw_bytes - made) / 1e6:,.0f} MB for the raw pixels alone, and that disk has "
            f"{free / 1e6:,.0f} MB free. Make room, choose another folder with --out, or ask for fewer "
            "images with --count."
        )


def describe(identity: Identity) -> str:
    """Say in words what a set is."""
    said = dict(identity)
    source = said.pop("source", "a set of unknown source")
    details = ", ".join(f"{key} {value}" for key, value in said.items())
    return f"{source} ({details})" if details else str(source)
