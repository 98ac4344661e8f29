"""Check that what is whole in a damaged tar is saved, in little memory, and appears at once."""

import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec, TypedDict, TypeVar

import numpy as np

from course_utils.checks.core import (
    AttemptOf,
    Evidence,
    Inputs,
    Mistake,
    Truth,
    attempt,
    folder_with,
    ignore_warnings,
    type_name,
)
from course_utils.checks.packed_formats._damaged_tars import END, DamagedTar, draw_large_tar, draw_tars
from course_utils.checks.packed_formats._saved_samples import (
    Repaired,
    Returned,
    expect_report,
    expect_saved,
)
from course_utils.system import ChildDiedError, in_child, limit_memory_growth

DAMAGED, OUT = "damaged.tar", "repaired.tar"
LARGE_SAMPLES, LARGE_SIZE = 8, 2 * 2**20
MEMORY = 10 * 2**20  # bytes that a process may allocate to repair the large tar
MEMORY_ERROR = "MemoryError"
OLD = b"an older file"
Repair = Callable[..., object]
P = ParamSpec("P")
T = TypeVar("T")


class Stopped(TypedDict):
    """A call whose process is killed: is there a new tar, did the process live on, and a call after it."""

    appeared: bool
    survived: bool
    again: Repaired


class Repairs(TypedDict):
    """All calls of the student's function.

    Attributes:
        calls: The calls on each tar.
        stopped: The calls whose processes are killed.
        replaced: The call with an older file at the place of the new one.
        reader: What a process reads that has opened the older file before.
        large: The size of the tar made from a large one, in a process with little memory.
    """

    calls: list[Repaired]
    stopped: list[Stopped]
    replaced: Repaired
    reader: bytes
    large: AttemptOf[int]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw the tars."""
    tars = draw_tars(rng)
    size = len(tars[0]["tar"])
    limits = [0, int(rng.integers(size // 4, size // 2)), size - 2 * len(END)]
    return {"tars": [tar["tar"] for tar in tars], "limits": limits}, tars


def probe(inputs: Inputs, repair: Repair) -> Repairs:
    """Repair each tar; then the first one with a limit to its output, again, and over an older file."""
    first = inputs["tars"][0]
    with ignore_warnings():
        calls = [_in_folder(_repair, repair, tar) for tar in inputs["tars"]]
        stopped = [_in_folder(_stop, repair, first, limit) for limit in inputs["limits"]]
        replaced, reader = _in_folder(_replace, repair, first)
        large = _in_folder(_repair_large, repair)
    return {
        "calls": calls,
        "stopped": stopped,
        "replaced": replaced,
        "reader": reader,
        "large": large,
    }


def _in_folder(action: Callable[Concatenate[Path, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do something with a new folder, which has one for the damaged tar and one for the new tar."""
    with folder_with({}) as folder:
        for name in ("in", "out"):
            (folder / name).mkdir()
        return action(folder, *args, **kwargs)


def _repair(folder: Path, repair: Repair, tar: bytes) -> Repaired:
    damaged, out = folder / "in" / DAMAGED, folder / "out" / OUT
    damaged.write_bytes(tar)
    called = attempt(lambda: _returned(repair(damaged, out)))
    others = [path.name for part in ("in", "out") for path in (folder / part).iterdir()]
    return {
        "called": called,
        "out": out.read_bytes() if out.is_file() else None,
        "others": sorted(name for name in others if name not in (DAMAGED, OUT)),
        "damaged": damaged.read_bytes() if damaged.is_file() else b"",
    }


def _returned(value: object) -> Returned:
    keys = [str(key) for key in value if isinstance(key, str)] if isinstance(value, list | tuple) else None
    return {"kind": type_name(value), "keys": keys}


def _stop(folder: Path, repair: Repair, tar: bytes, limit: int) -> Stopped:
    """Repair in a process that the kernel kills when a file grows beyond a limit; then without a limit."""
    damaged, out = folder / "in" / DAMAGED, folder / "out" / OUT
    damaged.write_bytes(tar)
    try:
        in_child(_limited, repair, damaged, out, limit)
        survived = True
    except ChildDiedError:
        survived = False
    except Exception:  # only code that ignores the signal lives to see an error
        survived = True
    appeared = os.path.lexists(out)
    out.unlink(missing_ok=True)
    return {"appeared": appeared, "survived": survived, "again": _repair(folder, repair, tar)}


def _limited(repair: Repair, damaged: Path, out: Path, limit: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    repair(damaged, out)


def _replace(folder: Path, repair: Repair, tar: bytes) -> tuple[Repaired, bytes]:
    out = folder / "out" / OUT
    out.write_bytes(OLD)
    with out.open("rb") as reader:
        return _repair(folder, repair, tar), reader.read(2 * len(OLD))


def _repair_large(folder: Path, repair: Repair) -> AttemptOf[int]:
    damaged, out = folder / "in" / DAMAGED, folder / "out" / OUT
    headers, size = draw_large_tar(LARGE_SAMPLES, LARGE_SIZE)
    with damaged.open("wb") as file:
        for place, header in headers:
            file.seek(place)
            file.write(header)
        file.truncate(size)
    try:
        in_child(_in_little_memory, repair, damaged, out)
    except ChildDiedError:
        return {"error": MEMORY_ERROR}
    except Exception as error:
        return {"error": type_name(error)}
    return {"value": out.stat().st_size if out.is_file() else 0}


def _in_little_memory(repair: Repair, damaged: Path, out: Path) -> None:
    limit_memory_growth(MEMORY)
    repair(damaged, out)


def judge(truth: Truth, evidence: Evidence) -> str:
    """Check what was saved from each tar, what was reported, and how the new tar appears."""
    if len(evidence["calls"]) != len(truth) or not evidence["stopped"]:
        raise Mistake("no_evidence", "The check could not repair all tars with your function.")
    for tar, call in zip(truth, evidence["calls"], strict=True):
        expect_saved(tar, call)
        expect_report(tar, call, truth)
    for stopped in evidence["stopped"]:
        _expect_stopped(stopped)
        _expect_again(truth[0], stopped["again"], "after a call whose process was killed")
    _expect_again(truth[0], evidence["replaced"], "with an older file at the place of the new tar")
    if evidence["reader"] != OLD:
        raise Mistake(
            "writes_over",
            "A process that had opened an older file of the same name while your function ran reads "
            "something else now. Write a temporary file in the folder of `out`, and rename it: os.replace "
            "puts the new file in the place of the old one in one step.",
        )
    _expect_large(evidence["large"])
    return (
        "Every whole sample is saved unchanged, every other one is reported, and the new tar appears when "
        "it is complete."
    )


def _expect_stopped(stopped: Stopped) -> None:
    if stopped["appeared"]:
        raise Mistake(
            "half_written",
            "The process was killed while it wrote, and now there is a file at the path `out` that is not "
            "complete. Write under another name in the same folder, and rename the file when it is closed.",
        )
    if stopped["survived"]:
        raise Mistake("no_evidence", "The check could not stop your function while it wrote the new tar.")


def _expect_again(tar: DamagedTar, call: Repaired, when: str) -> None:
    try:
        expect_saved(tar, {**call, "others": []})
        expect_report(tar, call, [])
    except Mistake as mistake:
        raise Mistake(
            "second_call_differs", f"A call {when} does not work, but the first one did. {mistake.message}"
        ) from mistake


def _expect_large(large: AttemptOf[int]) -> None:
    if large.get("error", MEMORY_ERROR) != MEMORY_ERROR:
        message = f"Repairing a tar of {LARGE_SAMPLES} large samples without damage stopped with an error: "
        raise Mistake("crash", f"{message}{large['error'][:200]}.")
    if "error" in large:
        raise Mistake(
            "holds_everything",
            f"Repairing a tar of {LARGE_SAMPLES} samples of {LARGE_SIZE >> 20} MiB needs more than the "
            f"{MEMORY >> 20} MiB that the check's process may allocate. Hold one sample at most, and copy "
            "its data before you read on.",
        )
    if large["value"] < LARGE_SAMPLES * LARGE_SIZE:
        raise Mistake("loses_whole_sample", "A large tar without damage was not saved completely.")
