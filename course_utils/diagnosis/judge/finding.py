"""A finding, and what is said of each cause, which stands in `causes.toml`."""

import tomllib
from collections.abc import Callable, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

from course_utils.diagnosis.judge.stages import Stages

Change = Callable[[Stages], Stages]


class Finding(NamedTuple):
    """One thing that is wrong.

    Attributes:
        cause: Its name, a key of `CAUSES`.
        evidence: Numbers that were measured.
        change: What the remedy changes in the stages of a step; None where no time is gained.
        weight: Orders findings of the same class where no gain is predicted.
        fill: What stands in braces in the remedy.
    """

    cause: str
    evidence: list[str]
    change: Change | None = None
    weight: float = 0.0
    fill: Mapping[str, str] = MappingProxyType({})

    @property
    def remedy(self) -> str:
        """Lines to paste."""
        text = CAUSES[self.cause].remedy
        for name, value in self.fill.items():
            text = text.replace("{" + name + "}", value)
        return text


class Cause(NamedTuple):
    """What is said of a cause.

    Attributes:
        kind: "result" where results are wrong, "survival" where the run may die, "speed" where time is lost.
        sentence: What happens.
        lesson: Section of the course.
        remedy: Lines to paste.
    """

    kind: str
    sentence: str
    lesson: str
    remedy: str


CAUSES = {
    name: Cause(**said)
    for name, said in tomllib.loads(files(__package__).joinpath("causes.toml").read_text()).items()
}
