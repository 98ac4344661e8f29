"""The hidden folder where a set is made, beside its final names; nothing that exists is ever overwritten.

A shard is finished when its record exists, which is renamed into place when all files of the shard are on
disk. A set is finished when its manifest is there.
"""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from course_utils.system import create_atomically
from data_setup.format.errors import SetupError
from data_setup.format.layout import FORMS, JPEGS, MANIFEST, RAW, RAW_BYTES, STAGING, part_name
from data_setup.format.manifest import SIZES, Identity, describe_identity, read_manifest

ELSEWHERE = "choose another folder (COURSE_DATA=FOLDER, or --out)"


@dataclass(frozen=True)
class Staging:
    """Paths in the staging folder of the set in `out`."""

    out: Path

    @property
    def root(self) -> Path:
        """The staging folder itself."""
        return self.out / STAGING

    @property
    def jpegs(self) -> Path:
        """The folder of the JPEG files."""
        return self.root / JPEGS

    @property
    def plan(self) -> Path:
        """The JSON file with the identity of the set that is being made."""
        return self.root / "plan.json"

    def part(self, form: str, shard: int) -> Path:
        """Return the archive of a shard in a packed form."""
        return self.root / form / part_name(shard)

    def record(self, shard: int) -> Path:
        """Return the record of a shard."""
        return self.root / f"shard{shard}.json"

    def open(self, identity: Identity) -> None:
        """Make the staging folder of a set, or take up that of an unfinished one.

        Raises:
            SetupError: Something else is there, or is being made there.
        """
        if not self.plan.exists():
            if forms := [form for form in FORMS if (self.out / form).exists()]:
                raise SetupError(
                    f"{self.out} already holds {', '.join(forms)} without a {MANIFEST}. Nothing was changed; "
                    f"{ELSEWHERE}, or keep the set that is there: "
                    f"`python -m data_setup adopt --out {self.out}`."
                )
            self.root.mkdir(exist_ok=True)
            create_atomically(self.plan, [json.dumps(identity).encode()])
        try:
            found = dict(json.loads(self.plan.read_bytes()))
        except (ValueError, TypeError) as error:
            raise SetupError(f"{self.plan} is damaged. Delete {self.root}, then run this again.") from error
        if found != identity:
            raise SetupError(
                f"{self.root} holds an unfinished set: {describe_identity(found)}; you asked for "
                f"{describe_identity(identity)}. Finish it with the command that began it, {ELSEWHERE}, "
                "or delete that one."
            )
        for form in FORMS:
            if not (self.out / form).exists():
                (self.root / form).mkdir(exist_ok=True)

    def remove(self) -> None:
        """Remove the staging folder; what a network file system keeps there is left to the next command."""
        for record in self.root.glob("shard*.json"):  # first: none may be taken for one of another set
            record.unlink()
        shutil.rmtree(self.root, ignore_errors=True)


def set_identity(source: Identity, shards: int) -> Identity:
    """Return what determines every byte of a set: the identity of its source, and the number of shards."""
    return source | {"shards": shards}


def is_finished(out: Path, identity: Identity) -> bool:
    """Return whether a folder already holds the requested set.

    Raises:
        SetupError: The folder holds another set, or any file is missing or has another size.
    """
    if not (out / MANIFEST).exists():
        return False
    found = require_complete(out)
    if SIZES not in found:  # version 1.0 did not know the sizes of the files of a collection
        identity = {key: value for key, value in identity.items() if key != SIZES}
    if found != identity:
        raise SetupError(
            f"{out} holds {describe_identity(found)}; you asked for {describe_identity(identity)}. Nothing "
            f"was changed; {ELSEWHERE}, or move the old set away first."
        )
    if Staging(out).root.exists():  # of a command that was killed just before it would have removed it
        Staging(out).remove()
    return True


def require_complete(out: Path) -> Identity:
    """Compare the size of each file of a set with the manifest, and return the set's identity.

    Raises:
        SetupError: One is missing or has another size, or the manifest was changed.
    """
    manifest = read_manifest(out / MANIFEST)
    problem = "" if manifest.is_intact else f"{MANIFEST}: its content has changed (SHA-256 differs)"
    for file in manifest.files:
        try:
            if (out / file.path).stat().st_size == file.size:
                continue
        except (FileNotFoundError, NotADirectoryError):
            pass
        problem = problem or f"{file.path} is missing or has another size"
    if problem:
        raise SetupError(
            f"{out} is damaged: {problem}. `python -m data_setup verify` lists all problems; move the folder "
            "away and run this command again to make the set anew."
        )
    return manifest.header["identity"]


def check_free_space(out: Path, images: int) -> None:
    """Check that the raw pixels of so many images will fit, before any work is done.

    Raises:
        SetupError: They will not fit.
    """
    made = sum(path.stat().st_blocks * 512 for path in (Staging(out).root / RAW).glob("*"))
    existing = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.exists())
    free, needed = shutil.disk_usage(existing).free, images * RAW_BYTES - made
    if needed > free:
        raise SetupError(
            f"{out} needs {needed / 1e6:,.0f} MB for the raw pixels alone, and that disk has "
            f"{free / 1e6:,.0f} MB free. Make room, {ELSEWHERE}, or ask for fewer images by --count"
        )
