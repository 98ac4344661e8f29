"""Check that samples are written into shards near a size, and that a shard with a final name is complete."""

import os
import resource
import signal
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TypedDict

import numpy as np

from course_utils.checks.core import (
    AttemptOf,
    Evidence,
    Inputs,
    Mistake,
    Truth,
    attempt,
    environment,
    folder_with,
    ignore_warnings,
    type_name,
)
from course_utils.checks.packed_formats._shards import (
    Call,
    Sample,
    Written,
    draw_call,
    expect_shards,
    samples_of,
)
from course_utils.system import ChildDiedError, in_child, waiting_child

SUFFIX = ".shard"
# The calls: to be killed later, of more than a hundred shards, of samples of which hardly any has bytes, of
# one sample and of none, and one within another.
SHORT, LONG, NAMES, ONE, NONE = "short", "long", "names", "one", "none"
OUTER, INNER = "outer", "inner"
FIRST = "first"  # the short one again, of the samples that made its first shard
ALONE = (SHORT, LONG, NAMES, ONE, NONE)
HELD = 2  # targets of bytes that need not be in files yet
MOST_KILLS = 8  # an answer may write a file for each sample
Write = Callable[[Iterable[Sample], Path, int], object]
Read = Callable[[Path], Iterable[Sample]]


class Killed(TypedDict):
    """A call whose process was killed, and the same call again.

    Attributes:
        given: How many samples of the last iteration were given before; None if it was killed
            when it first wrote into a file.
        survived: Whether the process lived on.
        before: The folder then.
        after: The folder after the second call.
    """

    given: int | None
    survived: bool
    before: Written
    after: Written


class Found(TypedDict):
    """What each call led to, and the calls that were killed.

    Attributes:
        calls: By name.
        first: How many samples of the short call were given when its first shard had its name.
        first_only: A call with only these samples, which may end with a full shard.
        killed: The same samples as in the short call.
    """

    calls: dict[str, Written]
    first: int
    first_only: Written
    killed: list[Killed]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw the samples of all calls; in the long one, the small samples come first."""
    targets = {name: int(rng.integers(20_000, 21_000)) for name in (*ALONE, OUTER, INNER)}
    # All are smaller than the buffer through which Python writes a file.
    sizes = {name: rng.integers(target // 20, target // 5, 30).tolist() for name, target in targets.items()}
    small, large = rng.integers(650, 750, 200), rng.integers(3500, 4000, 850)
    sizes |= {LONG: [*small.tolist(), *large.tolist()], NAMES: [0] * 2000, ONE: sizes[ONE][:1], NONE: []}
    calls = {name: draw_call(rng, target, sizes[name]) for name, target in targets.items()}
    count = len(sizes[SHORT])
    kills = [int(rng.integers(12, count)), count]
    return {"calls": calls, "kills": kills}, calls


class Samples:
    """Samples that can be iterated several times.

    Args:
        samples: The samples.
        kill_after: How many requests may be answered before the process is killed, over all iterations; each
            ends with a request that gives no sample.
        halfway: Called in the middle of the first iteration.
        folder: Where shards appear.

    Attributes:
        iterations: How often they were iterated.
        appeared: How many samples of the last iteration had been given when another shard had its name.
    """

    def __init__(
        self,
        samples: list[Sample],
        kill_after: int | None = None,
        halfway: Callable[[], object] | None = None,
        folder: Path | None = None,
    ) -> None:
        self._samples, self._left, self._halfway = samples, kill_after, halfway
        self._folder = folder
        self.iterations, self.appeared = 0, list[int]()

    def __iter__(self) -> Iterator[Sample]:
        self.iterations += 1
        self.appeared, shards = [], 0
        for place, (name, data) in enumerate(self._samples):
            if self._halfway is not None and place == len(self._samples) // 2:
                halfway, self._halfway = self._halfway, None
                halfway()
            self._kill_if_due()
            if self._folder is not None and len(_shards(self._folder)) != shards:
                shards = len(_shards(self._folder))
                self.appeared.append(place)
            yield name, data
        self._kill_if_due()

    def _kill_if_due(self) -> None:
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        if self._left is not None:
            self._left -= 1


def probe(inputs: Inputs, write: Write, read: Read) -> Found:
    """Write shards, kill processes that do the same, and read them in a process that knows only the files."""
    calls: dict[str, Call] = inputs["calls"]
    with (
        ignore_warnings(),
        folder_with({}) as folder,
        waiting_child(partial(_read_all, folder, read)) as send,
    ):
        for name in (*calls, FIRST):
            (folder / name).mkdir()
        called, short = _write_all(folder, calls, write)
        call, first = calls[SHORT], (short.appeared or [0])[0]
        first_only = _call(write, Samples(call["samples"][:first]), folder / FIRST, call["target"])
        # A shard that just got its name may not be complete: Python's buffer or the answer's holds the rest.
        kills = [None, *sorted({*inputs["kills"], *short.appeared[:MOST_KILLS]})]
        killed = [
            _kill(folder, call, short.iterations, given, write, number) for number, given in enumerate(kills)
        ]
        found = send(b"read")
        return {
            "calls": {name: _written(folder / name, called[name], found) for name in calls},
            "first": first,
            "first_only": _written(folder / FIRST, first_only, found),
            "killed": [
                {
                    "given": given,
                    "survived": survived,
                    "before": _written(folder / f"before{number}", {"value": None}, found),
                    "after": _written(folder / f"after{number}", again, found),
                }
                for number, (given, (survived, again)) in enumerate(zip(kills, killed, strict=True))
            ],
        }


def _write_all(
    folder: Path, calls: dict[str, Call], write: Write
) -> tuple[dict[str, AttemptOf[None]], Samples]:
    """Make all calls, the inner one within the outer one; return the samples of the short one, too."""
    called: dict[str, AttemptOf[None]] = {}

    def make_call(name: str, halfway: Callable[[], object] | None = None) -> Samples:
        samples = Samples(calls[name]["samples"], None, halfway, folder / name if name == SHORT else None)
        called[name] = _call(write, samples, folder / name, calls[name]["target"])
        return samples

    short, *_ = map(make_call, ALONE)
    make_call(OUTER, halfway=partial(make_call, INNER))
    return {name: called.get(name, {"value": None}) for name in calls}, short


def _call(write: Write, samples: Samples, folder: Path, target: int) -> AttemptOf[None]:
    called = attempt(lambda: write(samples, folder, target))
    return {"error": called["error"]} if "error" in called else {"value": None}


def _kill(
    folder: Path, call: Call, iterations: int, given: int | None, write: Write, number: int
) -> tuple[bool, AttemptOf[None]]:
    """Kill a process in the last iteration, keep a copy of its folder, and make the same call again."""
    before, after = folder / f"before{number}", folder / f"after{number}"
    after.mkdir()
    earlier = max(iterations - 1, 0) * (len(call["samples"]) + 1)
    samples = Samples(call["samples"], None if given is None else earlier + given)
    calling = _call_killed_by_a_write if given is None else _call
    try:
        in_child(calling, write, samples, after, call["target"])
        survived = True
    except ChildDiedError:
        survived = False
    environment.shutil.copytree(after, before, symlinks=True)
    return survived, _call(write, Samples(call["samples"]), after, call["target"])


def _call_killed_by_a_write(write: Write, samples: Samples, folder: Path, target: int) -> AttemptOf[None]:
    """Make a call in a process that the kernel kills when it has opened a file and writes the first byte."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    return _call(write, samples, folder, target)


def _read_all(folder: Path, read: Read, wait: Callable[[], bytes]) -> dict[str, dict[str, Evidence]]:
    """Wait; then read each shard of each call from a copy, which has a folder for itself."""
    wait()
    found: dict[str, dict[str, Evidence]] = {}
    with folder_with({}) as copies:
        for place in sorted(path for path in folder.iterdir() if path.is_dir()):
            found[place.name] = {}
            for number, shard in enumerate(_shards(place)):
                alone = copies / f"{place.name}-{number}"
                alone.mkdir()
                # Under another name: by its own, global variables may know it from an earlier check.
                copy = Path(environment.shutil.copy(shard, alone / f"copy-{number}{SUFFIX}"))
                found[place.name][shard.name] = attempt(partial(_read, read, copy))
    return found


def _read(read: Read, path: Path) -> list[Sample | str]:
    return [_plain(sample) for sample in read(path)]


def _plain(sample: object) -> Sample | str:
    """Return a sample as plain data; of what is none, the types."""
    match sample:
        case (str(name), bytes() | bytearray() | memoryview() as data):
            return str(name), bytes(data)
        case (name, data):
            return f"a pair of {type_name(name)} and {type_name(data)}"
    return f"an object of type {type_name(sample)}"


def _shards(folder: Path) -> list[Path]:
    files = [path for path in folder.iterdir() if path.is_file() and not path.is_symlink()]
    return sorted(path for path in files if path.name.endswith(SUFFIX))


def _written(folder: Path, called: AttemptOf[None], found: dict[str, dict[str, Evidence]]) -> Written:
    return {
        "called": called,
        "shards": {path.name: path.read_bytes() for path in _shards(folder)},
        "read": found[folder.name],
        "stored": sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
    }


def judge(truth: Truth, evidence: Found) -> str:
    """Check the shards of each call, then what was left of those whose process was killed."""
    calls = evidence["calls"]
    if set(calls) != set(truth) or not evidence["killed"]:
        raise Mistake("no_evidence", "The check could not make all calls of your functions.")
    for name in ALONE:
        expect_shards(truth[name], calls[name])
    first = truth[SHORT]["samples"][: evidence["first"]]
    expect_shards({"samples": first, "target": truth[SHORT]["target"]}, evidence["first_only"])
    _expect_separate(truth, calls)
    for killed in evidence["killed"]:
        _expect_complete(calls[SHORT], killed)
        _expect_stored(truth[SHORT], killed)
    for killed in evidence["killed"]:
        _expect_again(truth[SHORT], killed["after"])
    return (
        "Every sample is in one shard, the shards are near the target and sort by name, and whatever is "
        "named a shard is complete."
    )


def _expect_separate(truth: Truth, calls: dict[str, Written]) -> None:
    for name in (OUTER, INNER):
        try:
            expect_shards(truth[name], calls[name])
        except Mistake as mistake:
            raise Mistake(
                "mixes_calls",
                "Each call works by itself, but not while another one, into another folder, is not "
                f"finished: {mistake.message} Keep nothing in global variables, and do not change the "
                "working directory.",
            ) from mistake


def _expect_complete(undisturbed: Written, killed: Killed) -> None:
    before, given = killed["before"], killed["given"]
    moment = "when it wrote into its first file" if given is None else f"after {given} samples"
    when = f"The process was killed {moment}, and"
    whole = [samples_of(undisturbed, shard) for shard in undisturbed["shards"]]
    for shard in sorted(before["shards"]):
        try:
            samples = samples_of(before, shard)
        except Mistake as mistake:
            raise _half_written(f"{when} {shard} cannot be read") from mistake
        if samples not in whole:
            raise _half_written(f"{when} {shard} holds only a part of a shard, or other samples")
    if killed["survived"] and given is not None:
        raise Mistake("no_evidence", "The check could not kill a process that was writing shards.")


def _half_written(what: str) -> Mistake:
    return Mistake(
        "half_written",
        f"{what}. Write each shard under a name that does not end in {SUFFIX}, in the same folder, and "
        "rename it when it is closed: os.replace does that in one step.",
    )


def _expect_stored(call: Call, killed: Killed) -> None:
    given = sum(len(data) for _, data in call["samples"][: killed["given"] or 0])
    if killed["before"]["stored"] < given - HELD * call["target"]:
        raise Mistake(
            "holds_everything",
            f"When {given:,} bytes of samples were given, only {killed['before']['stored']:,} were in "
            f"files of the folder; the target is {call['target']:,}. Write each shard when it is full: "
            "all samples together may be larger than the memory. Put temporary files into `folder` too, "
            "because a file can be renamed in one step only within a file system.",
        )


def _expect_again(call: Call, written: Written) -> None:
    try:
        expect_shards(call, written)
    except Mistake as mistake:
        raise Mistake(
            "second_call_differs",
            "A process was killed while it wrote. The same call again, into the same folder, should "
            f"write what was missing or everything anew: {mistake.message}",
        ) from mistake
