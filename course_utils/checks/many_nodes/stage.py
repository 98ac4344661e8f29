"""Check that a file is staged once per node, whole or not at all, whatever happens to other processes."""

import contextlib
import io
import os
import tempfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import IO, TypedDict

import numpy as np

from course_utils.checks.core import (
    FileActivity,
    Inputs,
    Truth,
    folder_with,
    ignore_warnings,
    mark,
)
from course_utils.checks.many_nodes._staged_copies import (
    Repaired,
    expect_files,
    expect_not_opened,
    expect_opened_once,
    expect_refused,
    expect_repaired,
    expect_twins,
)
from course_utils.checks.many_nodes._staging_calls import (
    BEGINS,
    ENDS,
    Moment,
    Outcome,
    Stage,
    call_in_turn,
    call_limited,
    paused_call,
)
from course_utils.checks.many_nodes._staging_faults import (
    Interrupted,
    expect_all_calls,
    expect_at_once,
    expect_failed,
    expect_kept,
    expect_killed,
    expect_one_copier,
    expect_together,
)

TWINS = ("run_1", "run_2")  # the same name and size, in two folders
KILLED, FULL, FLIPPED, CUT, DAMAGED_SOURCE = "killed", "full", "flipped", "cut", "damaged"
TOGETHER, BESIDE = "together", "beside"
SINGLE = (KILLED, FULL, FLIPPED, CUT, DAMAGED_SOURCE, TOGETHER, BESIDE)
SUFFIX = ".sha256"
LEAST_DATA = 1000  # bytes: files that are smaller hold no data, but locks and marks
STAGED = "mark-staged"
AT_ONCE = 3  # calls at the same time
Arguments = tuple[Path, Path]


class Found(TypedDict):
    """What all calls led to.

    Attributes:
        twins: The calls for each twin, of two processes one after the other.
        files: What their scratch folder holds afterwards.
        interrupted: By the name of the source.
        repaired: By the name of the source.
        damaged_source: Two calls for a source that does not match its checksum.
        together: The calls of two processes at once for one source, and of a third one for another source.
        before: The files when the first of these was about to publish its copy.
        after: The files when the others had returned or were waiting.
    """

    twins: list[list[Outcome]]
    files: dict[str, bytes]
    interrupted: dict[str, Interrupted]
    repaired: dict[str, Repaired]
    damaged_source: list[Outcome]
    together: list[Outcome]
    before: dict[str, bytes]
    after: dict[str, bytes]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw a source for each situation, the twins with one name and size, and files of other jobs."""
    size = int(rng.integers(48_000, 64_000))
    stem = f"train-{int(rng.integers(1000)):03d}.tar"
    sizes = {name: size if name in TWINS else size + int(rng.integers(1, 500)) for name in (*TWINS, *SINGLE)}
    data = {f"{name}/{stem}": rng.bytes(length) for name, length in sizes.items()}
    sums = {f"{name}{SUFFIX}": _sum_line(content, stem) for name, content in data.items()}
    bad = f"{DAMAGED_SOURCE}/{stem}"
    sums[f"{bad}{SUFFIX}"] = _sum_line(_flip(data[bad], int(rng.integers(size))), stem)
    strays = {
        name: rng.bytes(int(rng.integers(1000, 2000)))
        for name in (f"validation-{stem}", "other.tar.part", "notes.txt")
    }
    limits = {
        KILLED: int(rng.integers(size // 2, size)),
        FULL: int(rng.integers(size // 2, size)),
    }
    inputs = {
        "files": data | sums,
        "stem": stem,
        "strays": strays,
        "limits": limits,
        "flip": int(rng.integers(size // 3, size)),
        "cut": int(rng.integers(size // 3, size - 1)),
    }
    return inputs, {"data": data, "stem": stem, "strays": strays}


def _sum_line(content: bytes, stem: str) -> bytes:
    return f"{sha256(content).hexdigest()}  {stem}\n".encode()


def _flip(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def probe(inputs: Inputs, stage: Stage) -> Found:
    """Stage each source in its situation; the calls are those of many processes, like ranks."""
    with (
        ignore_warnings(),
        folder_with(inputs["files"], read_only=True) as folder,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place,
    ):
        source = {name: folder / name / inputs["stem"] for name in (*TWINS, *SINGLE)}
        with contextlib.suppress(OSError):  # those that grading serves are read-only already
            for path in source.values():
                path.chmod(0o444)
        scratch = {name: Path(place).resolve() / name for name in (TWINS[0], *SINGLE)}
        for path in scratch.values():
            path.mkdir()
        both = {name: (source[name], scratch[name]) for name in SINGLE}
        both |= {name: (source[name], scratch[TWINS[0]]) for name in TWINS}
        # First: the recorder of a notebook writes a file, too, which is still short now.
        interrupted = _interrupt(stage, {name: both[name] for name in inputs["limits"]}, inputs["limits"])
        changes = {
            FLIPPED: lambda content: _flip(content, inputs["flip"]),
            CUT: lambda content: content[: inputs["cut"]],
        }
        for name, content in inputs["strays"].items():
            (scratch[TWINS[0]] / name).write_bytes(content)
        repeated, repaired = _repeat(stage, folder, both, changes)
        files = _files(scratch[TWINS[0]])
        together, before, after = _stage_together(
            stage, folder, source[TOGETHER], source[BESIDE], scratch[TOGETHER]
        )
        return {
            "twins": [[outcomes[name] for name in TWINS] for outcomes in repeated],
            "files": files,
            "interrupted": interrupted,
            "repaired": repaired,
            "damaged_source": [outcomes[DAMAGED_SOURCE] for outcomes in repeated],
            "together": together,
            "before": before,
            "after": after,
        }


def _files(scratch: Path) -> dict[str, bytes]:
    """Return the files below a folder by relative path."""
    paths = [Path(folder) / name for folder, _, names in os.walk(scratch) for name in names]
    return {str(path.relative_to(scratch)): path.read_bytes() for path in paths if path.is_file()}


def _interrupt(
    stage: Stage, arguments: dict[str, Arguments], limits: dict[str, int]
) -> dict[str, Interrupted]:
    """Stop a call for each source; then make all calls again, in one process."""
    first = {
        name: call_limited(stage, *both, limits[name], kill=name != FULL) for name, both in arguments.items()
    }
    left = {name: _files(scratch) for name, (_, scratch) in arguments.items()}
    again = call_in_turn(stage, list(arguments.values()))
    return {
        name: {"first": first[name], "left": left[name], "again": outcome}
        for name, outcome in zip(arguments, again, strict=True)
    }


def _repeat(
    stage: Stage,
    folder: Path,
    arguments: dict[str, Arguments],
    changes: dict[str, Callable[[bytes], bytes]],
) -> tuple[list[dict[str, Outcome]], dict[str, Repaired]]:
    """Make calls in one process, change some copies, and make the same calls in another process."""
    chosen = {name: arguments[name] for name in (*TWINS, *changes, DAMAGED_SOURCE)}
    first = dict(zip(chosen, call_in_turn(stage, list(chosen.values())), strict=True))
    mark(folder, STAGED)
    with contextlib.ExitStack() as files:
        readers = {
            name: files.enter_context(_changed(first[name], arguments[name][1], change))
            for name, change in changes.items()
        }
        again = dict(zip(chosen, call_in_turn(stage, list(chosen.values())), strict=True))
        repaired: dict[str, Repaired] = {
            name: {"first": first[name], "changed": changed, "again": again[name], "reader": reader.read()}
            for name, (changed, reader) in readers.items()
        }
    return [first, again], repaired


@contextlib.contextmanager
def _changed(
    staged: Outcome, scratch: Path, change: Callable[[bytes], bytes]
) -> Iterator[tuple[bytes, IO[bytes]]]:
    """Change a copy behind the back of the student's function; yield its new bytes, and the open file."""
    copy = scratch / staged["value"]["name"] if "value" in staged else scratch
    if not copy.is_file() or not copy.resolve().is_relative_to(scratch):
        yield b"", io.BytesIO()
        return
    changed, status = change(copy.read_bytes()), copy.stat()
    copy.chmod(0o600)
    copy.write_bytes(changed)
    os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))  # as when a disk loses bits
    with copy.open("rb") as reader:
        yield changed, reader


def _stage_together(
    stage: Stage, folder: Path, source: Path, other: Path, scratch: Path
) -> tuple[list[Outcome], dict[str, bytes], dict[str, bytes]]:
    """Let one process pause before it publishes its copy; two more come and wait for it or not; all go on."""
    with contextlib.ExitStack() as processes:

        def start(number: int, path: Path, moment: Moment) -> Callable[[], Outcome]:
            def tell(what: str) -> None:
                mark(folder, _call_mark(number, what))

            return processes.enter_context(paused_call(stage, path, scratch, moment, tell))

        calls = [start(0, source, "publish")]
        before = _files(scratch)
        calls += [start(1, source, "wait"), start(2, other, "wait")]
        after = _files(scratch)
        return [finish() for finish in calls], before, after


def _call_mark(number: int, what: str) -> str:
    return f"mark-call-{number}-{what}"


def judge(truth: Truth, found: Found) -> str:
    """Check the copies of single calls, then of repeated, interrupted and simultaneous ones."""
    content = {name: truth["data"][f"{name}/{truth['stem']}"] for name in (*TWINS, *SINGLE)}
    expect_twins([content[name] for name in TWINS], found["twins"])
    copies = {
        outcome["value"]["name"]: content[name]
        for name, outcome in zip(TWINS, found["twins"][1], strict=True)
    }
    expect_files(truth["strays"] | copies, found["files"])
    expect_repaired(content[CUT], found["repaired"][CUT], "size")
    expect_repaired(content[FLIPPED], found["repaired"][FLIPPED], "checksum")
    expect_refused(found["damaged_source"])
    expect_killed(content[KILLED], found["interrupted"][KILLED])
    expect_failed(content[FULL], found["interrupted"][FULL])
    data = {name: old for name, old in found["before"].items() if len(old) >= LEAST_DATA}
    expect_kept(data, found["after"])
    expect_together([content[name] for name in (TOGETHER, TOGETHER, BESIDE)], found["together"])
    return (
        "One process of a node copies, the others wait for it; a copy is whole and checked, or there is none."
    )


def outside(truth: Truth, activity: FileActivity) -> None:
    """Check how often each source was opened: that is what the shared file system has to serve."""
    stem = truth["stem"]
    alone = activity.before(STAGED).count("open")
    opened = activity.count("open")
    expect_opened_once({name: alone[f"{name}/{stem}"] for name in TWINS})
    expect_not_opened({name: opened[f"{name}/{stem}"] - alone[f"{name}/{stem}"] for name in TWINS})
    looks = [(event.process, event.name) for event in activity.events if event.kind == "look"]
    begins, ends = ([_call_mark(number, what) for number in range(AT_ONCE)] for what in (BEGINS, ENDS))
    expect_at_once(looks, begins, ends)
    expect_one_copier(opened[f"{TOGETHER}/{stem}"])
    if not activity.count("run"):  # programs open files where a notebook does not see it
        expect_all_calls({name: opened[f"{name}/{stem}"] for name in TWINS}, 1)
        repeated = [f"{name}/{stem}" for name in (KILLED, FULL, FLIPPED, CUT)]
        expect_all_calls({name: len(_openers(activity, name)) for name in repeated}, 2)


def _openers(activity: FileActivity, name: str) -> set[int]:
    return {event.process for event in activity.events if (event.kind, event.name) == ("open", name)}
