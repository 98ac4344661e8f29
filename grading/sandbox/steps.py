"""The steps of a submission in the sandbox, and the replies to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from course_utils.checks.world.state import BaseWorld
from course_utils.validation.definitions import extract_definitions, meaning


@dataclass(frozen=True)
class Handout:
    """The inputs of a check's probe.

    Attributes:
        inputs: The encoded inputs.
        world: Makes the world that the probe asks; None for a check without one.
    """

    inputs: bytes = b""
    world: Callable[[], BaseWorld] | None = None


@dataclass(frozen=True)
class Step:
    """A cell or a check to run in the sandbox.

    Attributes:
        index: Position of the cell in the notebook; `~position` for what runs in its place.
        source: Source of a cell to run; for a check the source of its answers, such as `"Dataset, "`.
        check: Name of the check; empty for a cell.
        module: Module that holds the check.
        handout: Returns the inputs of the probe.
    """

    index: int
    source: str
    check: str = ""
    module: str = ""
    handout: Callable[[], Handout] = Handout

    @property
    def is_fallback(self) -> bool:
        """Say whether this runs in the place of a cell that did not run to its end."""
        return self.index < 0


def definitions(step: Step) -> list[Step]:
    """Return the step that runs what a cell defines, if it does anything else; no step otherwise."""
    source = "" if step.check else extract_definitions(step.source)
    if not source or meaning(source) == meaning(step.source):
        return []
    return [replace(step, index=~step.index, source=source)]


@dataclass
class Reply:
    """The reply to one step; a submission can forge `text`, `error`, `evidence` and `pictures`.

    Attributes:
        outcome: `done`, `crashed` (the process died), `timed out`, `skipped` (no time was left), or
            `unreadable` (there is no notebook).
        reason: One sentence on any outcome but `done`.
        text: Text that the step printed.
        error: Type and message of the exception that ended a cell.
        evidence: Encoded evidence of a check.
        pictures: PNG files.
        seconds: Wall time.
        world: The world that the probe asked, with its record; no submission can forge it.
    """

    outcome: str = "done"
    reason: str = ""
    text: str = ""
    error: str = ""
    evidence: bytes = b""
    pictures: list[bytes] = field(default_factory=list)
    seconds: float = 0.0
    world: BaseWorld | None = None
