"""Whether a predicted gain comes true: remedies of `cures.toml` are applied to scripts of the clinic."""

import contextlib
import math
import os
import runpy
import signal
import statistics
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from course_utils.diagnosis.facts.process import ThreadClock
from course_utils.diagnosis.judge.verdict import MOST_GAIN
from tests.diagnosis.examine import examine
from tests.lessons.lesson import COURSE

ROUNDS, WITHIN = 3, 0.25
LIMIT = 120  # seconds of one run
DIAGNOSIS = COURSE / "tests" / "diagnosis"
ILL = DIAGNOSIS / "scripts" / "ill.py"


class Cure(NamedTuple):
    """A script, and the remedy of one of its causes."""

    script: Path
    arguments: list[str]
    cause: str
    cured: str

    @property
    def name(self) -> str:
        """Name of the script, or of the condition."""
        return self.arguments[0] if self.arguments else self.script.stem


class Kept(NamedTuple):
    """A prediction, and the gain that was measured: ratios of seconds a step.

    Attributes:
        name: Of the script.
        cause: Whose remedy was applied.
        predicted: None where no gain was named in most rounds.
        measured: None where a run failed.
        rounds: How often both were run.
    """

    name: str
    cause: str
    predicted: float | None
    measured: float | None
    rounds: int

    def is_kept(self) -> bool | None:
        """Within a quarter; `MOST_GAIN` means "at least"; None where nothing was predicted or measured."""
        if self.predicted is None or self.measured is None:
            return None
        measured = min(self.measured, MOST_GAIN) if self.predicted >= MOST_GAIN else self.measured
        return abs(measured / self.predicted - 1) <= WITHIN

    def told(self) -> str:
        """A line."""
        said = {True: "kept", False: "not kept", None: "no gain named" if self.measured else "failed"}
        predicted, measured = (f"{gain or math.nan:6.2f}" for gain in (self.predicted, self.measured))
        return f"{self.name:28} {self.cause:22} {predicted} {measured}  {said[self.is_kept()]}"


def cures() -> Iterator[Cure]:
    """Yield the cures, with the text of the cured script."""
    for item in tomllib.loads((Path(__file__).parent / "cures.toml").read_text())["cure"]:
        script = ILL if item["script"] == "ill" else DIAGNOSIS / "clinic" / f"{item['script']}.py"
        text = script.read_text()
        for old, new in item["edits"]:
            if old not in text:
                raise ValueError(f"{script.name}: {old!r} does not occur")
            text = text.replace(old, new)
        yield Cure(script, [item["argument"]] if "argument" in item else [], item["cause"], text)


def measure(cure: Cure, rounds: int = ROUNDS) -> Kept:
    """Run a script under the tool, alone, and cured, in turns; of the times the least counts."""
    with tempfile.TemporaryDirectory() as folder:
        import PIL.Image  # noqa: F401 - each run is a fork of this process
        import torch  # noqa: F401

        cured = Path(folder) / f"{cure.script.stem}_cured.py"
        cured.write_text(cure.cured)
        predictions, before, after = [], [], []
        for _ in range(rounds):
            report = examine([], [str(cure.script), *cure.arguments]).report
            named = [finding for finding in report.get("findings", []) if finding["cause"] == cure.cause]
            predictions += [finding["gain"] for finding in named if finding["gain"]]
            before.append(step_seconds(cure.script, cure.arguments))
            after.append(step_seconds(cured, cure.arguments))
    predicted = round(statistics.median(predictions), 2) if len(predictions) > rounds / 2 else None
    measured = round(min(before) / min(after), 2) if math.inf not in before + after else None
    return Kept(cure.name, cure.cause, predicted, measured, rounds)


def step_seconds(script: Path, arguments: list[str]) -> float:
    """Run a script without the tool, in a fork, and return its seconds per step after the first epoch.

    Where no loader has workers, the time in which others had the core does not count. A run that fails or
    takes longer than `LIMIT` seconds counts as infinite.
    """
    with tempfile.TemporaryDirectory() as made:
        result = Path(made) / "seconds"
        pid = os.fork()
        if not pid:
            signal.alarm(LIMIT)
            try:
                result.write_text(str(_run(script, arguments)))
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        return float(result.read_text()) if result.exists() else math.inf


def _run(script: Path, arguments: list[str]) -> float:
    from torch.optim.optimizer import register_optimizer_step_post_hook
    from torch.utils.data import DataLoader

    clock = ThreadClock()
    loaders: list[Any] = []
    times: dict[str, list[tuple[float, float]]] = {"begins": [], "ends": [], "steps": []}
    iterate: Callable[[Any], Any] = DataLoader.__iter__

    def note(kind: str) -> None:
        times[kind].append((time.monotonic(), clock.delay()))

    def timed(loader: Any) -> Iterator[Any]:
        loaders.append(loader)
        note("begins")
        yield from iterate(loader)
        note("ends")

    DataLoader.__iter__ = timed  # type: ignore[method-assign,assignment]
    register_optimizer_step_post_hook(lambda *_: note("steps"))
    sys.argv = [str(script), *arguments]
    with contextlib.suppress(BaseException), contextlib.redirect_stdout(None):
        runpy.run_path(str(script), run_name="__main__")
    starts = [at for at, loader in zip(times["begins"], loaders, strict=True) if loader is loaders[0]]
    start, end = starts[1], max(times["steps"] + times["ends"])
    others = end[1] - start[1] if not any(loader.num_workers for loader in loaders) else 0.0
    return (end[0] - start[0] - others) / sum(step > start for step in times["steps"])
