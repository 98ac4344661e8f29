"""The verdict on one repaired tar: what was saved, and what was reported as lost."""

import tarfile
from typing import TypedDict

from course_utils.checks.core import AttemptOf, Mistake, value_of
from course_utils.checks.packed_formats._damaged_tars import BLOCK, END, DamagedTar, read_tar

LONGEST_NAME = 100  # bytes that a header holds


class Returned(TypedDict):
    """What a call returned: its type, and its items if it is a list of strings."""

    kind: str
    keys: list[str] | None


class Repaired(TypedDict):
    """What a call led to: what it returned, the new tar, other new files, and the damaged tar afterwards."""

    called: AttemptOf[Returned]
    out: bytes | None
    others: list[str]
    damaged: bytes


def expect_saved(tar: DamagedTar, call: Repaired) -> None:
    """Check what a call wrote.

    Raises:
        Mistake: The first one of a fixed order.
    """
    where = f"Repairing {tar['damage']}"
    try:
        value_of(call["called"])
    except Mistake as mistake:
        if mistake.name == "crash":
            raise Mistake("crash", f"{where}: {mistake.message}") from mistake
        raise
    if call["damaged"] != tar["tar"]:
        raise Mistake(
            "in_place",
            f"{where} changed the damaged tar itself. Open it for reading only: when the repair fails, it is "
            "all that there is.",
        )
    if call["out"] is None:
        raise Mistake("no_tar", f"{where} left no file at the path `out`.")
    members = _members(where, call["out"])
    _expect_known(where, tar, members)
    _expect_whole_samples(where, tar, members)
    _expect_all_saved(where, tar, members)
    if call["others"]:
        raise Mistake(
            "left_behind",
            f"{where} left {call['others'][0]} behind. Rename the temporary file to `out` when it is "
            "complete, do not copy it.",
        )


def _members(where: str, data: bytes) -> list[tuple[str, bytes]]:
    try:
        members = read_tar(data)
    except (tarfile.TarError, OSError, ValueError, EOFError) as error:
        raise Mistake(
            "no_tar",
            f"{where}: `out` is not a readable, uncompressed tar ({str(error)[:200]}). Was it closed?",
        ) from error
    if not data.endswith(END):
        raise Mistake(
            "no_end",
            f"{where}: `out` does not end with two blocks of zeros, so programs take it for one that was cut "
            "off. Close the TarFile, or write them.",
        )
    return members


def _expect_known(where: str, tar: DamagedTar, members: list[tuple[str, bytes]]) -> None:
    names = [name for name, _ in members]
    if decoys := [name for name in names if name in tar["decoys"]]:
        raise _decoy(where, decoys[0])
    others = [name for name in names if name not in tar["found"]]
    if others and any(_is_part(others[0], name) for name in tar["found"]):
        raise Mistake(
            "other_names",
            f"{where}: `out` holds a member named {others[0][:200]!r}, a part of a longer name, which "
            "stands in an extension header in front of the member's own. Read it there, do not skip it.",
        )
    if others:
        raise Mistake(
            "other_names",
            f"{where}: `out` holds a member named {others[0][:200]!r}, and no undamaged header in the "
            "damaged tar has this name. The sum of a header's bytes must be the one that it states. A long "
            "name stands in an extension header before it; that of a member with a damaged header belongs "
            "to no other member.",
        )
    if twice := [name for name in names if names.count(name) > 1]:
        raise Mistake("written_twice", f"{where}: `out` holds {twice[0]} {names.count(twice[0])} times.")


def _is_part(part: str, name: str) -> bool:
    """Return whether a name is what a header holds of a longer one."""
    in_ascii = name.encode("ascii", "replace").decode()
    return len(name.encode()) > LONGEST_NAME and part[:40] in (name[:40], in_ascii[:40])


def _decoy(where: str, name: str) -> Mistake:
    return Mistake(
        "data_taken_for_headers",
        f"{where}: you found {name}, which only stands in the data of a picture. Skip the data of a member "
        "whose header is undamaged: search for the next header only behind a damaged one.",
    )


def _expect_whole_samples(where: str, tar: DamagedTar, members: list[tuple[str, bytes]]) -> None:
    kept = dict(tar["kept"])
    for name, data in members:
        if name not in kept:
            raise Mistake(
                "half_sample",
                f"{where}: `out` holds {name}, but its sample is not whole. Save a sample only if the "
                "picture and the label of the same key are there with all their bytes. The key is the whole "
                "name without the extension, folders included.",
            )
        if data != kept[name]:
            raise Mistake(
                "other_data",
                f"{where}: {name} has {len(data)} bytes in `out`, and they are not the {len(kept[name])} "
                "of the damaged tar. Copy as many bytes as the header says, from the block behind it.",
            )


def _expect_all_saved(where: str, tar: DamagedTar, members: list[tuple[str, bytes]]) -> None:
    names, expected = [name for name, _ in members], [name for name, _ in tar["kept"]]
    missing = [name for name in expected if name not in names]
    behind = expected[len(expected) - len(missing) :] == missing
    if tar["lost"] and behind and 2 < len(missing) < len(expected):
        raise Mistake(
            "stops_early",
            f"{where} lost {missing[0]} and all whole samples behind it. Behind a damaged header, try each "
            "block until one is a valid header, to the end of the file; blocks of zeros may be data.",
        )
    if missing:
        lost = f"{where} lost {missing[0]}, although both members of its sample have an undamaged header and "
        if hint := _likely_cause(tar, missing):
            raise Mistake("loses_whole_sample", f"{lost}all their data. {hint}")
        raise Mistake(
            "loses_whole_sample",
            f"{lost}all their data. Either member may be the first; the key ends before the last dot of the "
            "name; the zeros that fill a last block may be missing; the last sample counts, too.",
        )
    if names != expected:
        raise Mistake(
            "other_order", f"{where}: the members in `out` are not in the order of the damaged tar."
        )


def _likely_cause(tar: DamagedTar, missing: list[str]) -> str:
    """Return what explains all missing members; an empty text if nothing is known that does."""
    names = [name for name, _ in tar["kept"]]
    first, last = names.index(missing[0]), names.index(missing[-1])
    near = tar["kept"][max(first - 1, 0) : last + 1]
    full = [(name, len(data)) for name, data in near if data and len(data) % BLOCK == 0]
    if full and len(missing) <= 4:
        return (
            f"The {full[0][1]} bytes of {full[0][0]} fill {full[0][1] // BLOCK} blocks exactly. The next "
            "header is in the very next block: no block of zeros comes in between."
        )
    if all(len(name.encode()) > LONGEST_NAME for name in missing):
        return (
            "Its name is long, and stands in an extension header in front of its own header. Read both "
            "together; do not skip the first one as a member of an unknown type."
        )
    return ""


def expect_report(tar: DamagedTar, call: Repaired, tars: list[DamagedTar]) -> None:
    """Check which keys a call returned as lost.

    Args:
        tar: The tar that was repaired.
        call: What the call led to.
        tars: All tars that the function was given.

    Raises:
        Mistake: They are others.
    """
    where, returned = f"Repairing {tar['damage']}", call["called"]["value"]
    keys, lost = returned["keys"], tar["lost"]
    if keys is None:
        raise Mistake(
            "no_list",
            f"{where} returned an object of type {returned['kind']}: return the list of the keys that were "
            "lost.",
        )
    if keys == lost:
        return
    kept = {name.rpartition(".")[0] for name, _ in tar["kept"]}
    known = {name.rpartition(".")[0] for name in tar["found"]}
    for key in keys:
        if any(key == name.rpartition(".")[0] for name in tar["decoys"]):
            raise _decoy(where, key)
        if key not in known and any(key in other["lost"] for other in tars):
            raise Mistake(
                "keeps_report",
                f"{where} returned {key}, which an earlier call found in another tar. Start a new list in "
                "each call; a list as default value of an argument is made only once.",
            )
        if key not in known:
            raise Mistake(
                "no_key",
                f"{where} returned {key[:200]!r}, which is the key of no sample: the key is a member's whole "
                "name without the extension, folders included.",
            )
        if key in kept:
            raise Mistake("wrong_report", f"{where} returned {key} as lost, but that sample is whole.")
    if missing := [key for key in lost if key not in keys]:
        raise Mistake(
            "loss_not_reported",
            f"{where} lost the sample {missing[0]} and did not return its key, although an undamaged header "
            "has its name.",
        )
    raise Mistake(
        "wrong_report",
        f"{where} returned {keys[:3]} as the first keys; those of the lost samples are {lost[:3]}, each "
        "once, in the order of the tar.",
    )
