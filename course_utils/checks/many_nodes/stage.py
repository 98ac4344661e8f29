"""Check that a file is staged once per node, whole or not at all, whatever happens to other processes."""

from hashlib import sha256
from pathlib import Path
from typing import TypedDict

import numpy as np

from course_utils.checks.core import (
    FileActivity,
    FileEvent,
    Inputs,
    Truth,
    activity_of,
    environment,
    folder_with,
    ignore_warnings,
    recording,
)
from course_utils.checks.many_nodes._staging.calls import BEGINS, ENDS, Outcome, Stage
from course_utils.checks.many_nodes._staging.copies import (
    Repaired,
    expect_files,
    expect_looked_at,
    expect_not_moved,
    expect_not_opened,
    expect_opened_once,
    expect_published,
    expect_refused,
    expect_repaired,
    expect_twins,
)
from course_utils.checks.many_nodes._staging.faults import (
    Interrupted,
    expect_all_calls,
    expect_at_once,
    expect_failed,
    expect_kept,
    expect_killed,
    expect_one_copier,
    expect_together,
)
from course_utils.checks.many_nodes._staging.situations import (
    STAGED,
    Arguments,
    call_mark,
    call_together,
    files_below,
    flip_bit,
    interrupt,
    repeat,
    repeat_in_process,
)

TWINS = ("run_1/data", "run_2/data")  # the same size, name, and name of the folder
KILLED, FULL, FLIPPED, CUT, DAMAGED_SOURCE = "killed", "full", "flipped", "cut", "damaged"
AGAIN, TOGETHER, BESIDE = "again", "together", "beside"
SINGLE = (KILLED, FULL, FLIPPED, CUT, DAMAGED_SOURCE, AGAIN, TOGETHER, BESIDE)
SUFFIX = ".sha256"
LEAST_DATA = 1000  # bytes: files that are smaller hold no data, but locks and marks
AT_ONCE = 3  # calls at the same time


class Found(TypedDict):
    """What all calls led to.

    Attributes:
        twins: The calls for each twin, of two processes one after the other.
        files: What their scratch folder holds afterwards.
        interrupted: By the name of the source.
        repaired: By the name of the source.
        in_process: The second call of a process, after the copy of its first one was damaged.
        damaged_source: Two calls for a source that does not match its checksum.
        together: The calls of two processes at once for one source, and of a third one for another source.
        before: The files when the first of these was about to publish its copy.
        after: The files when the others had returned or were waiting.
        events: What was done with the sources.
    """

    twins: list[list[Outcome]]
    files: dict[str, bytes]
    interrupted: dict[str, Interrupted]
    repaired: dict[str, Repaired]
    in_process: Outcome
    damaged_source: list[Outcome]
    together: list[Outcome]
    before: dict[str, bytes]
    after: dict[str, bytes]
    events: list[FileEvent]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw a source for each situation, the twins with one name and size, and files of other jobs."""
    size = int(rng.integers(48_000, 64_000))
    stem = f"train-{int(rng.integers(1000)):03d}.tar"
    sizes = {name: size if name in TWINS else size + int(rng.integers(1, 500)) for name in (*TWINS, *SINGLE)}
    data = {f"{name}/{stem}": rng.bytes(length) for name, length in sizes.items()}
    sums = {f"{name}{SUFFIX}": _sum_line(content, stem) for name, content in data.items()}
    bad = f"{DAMAGED_SOURCE}/{stem}"
    sums[f"{bad}{SUFFIX}"] = _sum_line(flip_bit(data[bad], int(rng.integers(size))), stem)
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


def probe(inputs: Inputs, stage: Stage) -> Found:
    """Stage each source in its situation; the calls are those of many processes, like ranks."""
    with (
        ignore_warnings(),
        folder_with(inputs["files"], read_only=True) as folder,
        recording(folder) as recorder,
        environment.tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place,
    ):
        both = _arguments(folder, Path(place).resolve(), inputs["stem"])
        # First: the recorder writes a file, too, which is still short now.
        limited = {name: both[name] for name in inputs["limits"]}
        interrupted = interrupt(stage, limited, inputs["limits"], killed={KILLED})
        changes = {
            FLIPPED: lambda content: flip_bit(content, inputs["flip"]),
            CUT: lambda content: content[: inputs["cut"]],
        }
        shared = both[TWINS[0]][1]
        for name, content in inputs["strays"].items():
            (shared / name).write_bytes(content)
        twice = {name: both[name] for name in (*TWINS, *changes, DAMAGED_SOURCE)}
        repeated, repaired = repeat(stage, recorder, twice, changes)
        files = files_below(shared)
        in_process = repeat_in_process(stage, *both[AGAIN], changes[FLIPPED])
        together, before, after = call_together(stage, recorder, *both[TOGETHER], both[BESIDE][0])
        return {
            "twins": [[outcomes[name] for name in TWINS] for outcomes in repeated],
            "files": files,
            "interrupted": interrupted,
            "repaired": repaired,
            "in_process": in_process,
            "damaged_source": [outcomes[DAMAGED_SOURCE] for outcomes in repeated],
            "together": together,
            "before": before,
            "after": after,
            "events": recorder.events(),
        }


def _arguments(folder: Path, place: Path, stem: str) -> dict[str, Arguments]:
    """Return source and scratch folder of each situation; the twins share one."""
    sources = {name: folder / name / stem for name in (*TWINS, *SINGLE)}
    for path in sources.values():
        path.chmod(0o444)
    scratch = {name: place / ("twins" if name in TWINS else name) for name in sources}
    for path in scratch.values():
        path.mkdir(exist_ok=True)
    return {name: (source, scratch[name]) for name, source in sources.items()}


def judge(truth: Truth, evidence: Found) -> str:
    """Check the copies of single calls, then of repeated, interrupted and simultaneous ones."""
    content = {name: truth["data"][f"{name}/{truth['stem']}"] for name in (*TWINS, *SINGLE)}
    expect_twins([content[name] for name in TWINS], evidence["twins"])
    copies = {
        outcome["value"]["name"]: content[name]
        for name, outcome in zip(TWINS, evidence["twins"][1], strict=True)
    }
    expect_files(truth["strays"] | copies, evidence["files"])
    expect_not_moved(evidence["twins"])
    expect_repaired(content[CUT], evidence["repaired"][CUT], "size")
    expect_repaired(content[FLIPPED], evidence["repaired"][FLIPPED], "checksum")
    expect_looked_at(content[AGAIN], evidence["in_process"])
    expect_refused(evidence["damaged_source"])
    expect_killed(content[KILLED], evidence["interrupted"][KILLED])
    expect_failed(content[FULL], evidence["interrupted"][FULL])
    expect_published(evidence["twins"])
    data = {name: old for name, old in evidence["before"].items() if len(old) >= LEAST_DATA}
    expect_kept(data, evidence["after"])
    expect_together([content[name] for name in (TOGETHER, TOGETHER, BESIDE)], evidence["together"])
    _judge_files(truth, activity_of(evidence["events"]))
    return (
        "One process of a node copies, the others wait for it; a copy is whole and checked, or there is none."
    )


def _judge_files(truth: Truth, activity: FileActivity) -> None:
    """Check how often each source was opened: that is what the shared file system has to serve."""
    stem = truth["stem"]
    alone = activity.before(STAGED).count("open")
    opened = activity.count("open")
    expect_opened_once({name: alone[f"{name}/{stem}"] for name in TWINS})
    expect_not_opened({name: opened[f"{name}/{stem}"] - alone[f"{name}/{stem}"] for name in TWINS})
    marks = [(event.process, event.name) for event in activity.events if event.kind == "mark"]
    begins, ends = ([call_mark(number, what) for number in range(AT_ONCE)] for what in (BEGINS, ENDS))
    expect_at_once(marks, begins, ends)
    expect_one_copier(opened[f"{TOGETHER}/{stem}"])
    if not activity.count("run"):  # programs open files where a notebook does not see it
        expect_all_calls({name: opened[f"{name}/{stem}"] for name in TWINS}, 1)
        expect_all_calls({FULL: opened[f"{FULL}/{stem}"]}, 2)  # by one process
        repeated = [f"{name}/{stem}" for name in (KILLED, FLIPPED, CUT)]
        expect_all_calls({name: len(_openers(activity, name)) for name in repeated}, 2)


def _openers(activity: FileActivity, name: str) -> set[int]:
    return {event.process for event in activity.events if (event.kind, event.name) == ("open", name)}
