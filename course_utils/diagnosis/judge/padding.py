"""Tokens that a training computes a second, and what of it is padding."""

from typing import NamedTuple

from course_utils.diagnosis.judge.evidence import Loader, total
from course_utils.diagnosis.judge.finding import Finding
from course_utils.diagnosis.judge.stages import Stages
from course_utils.diagnosis.judge.steps import measured

MUCH, FEW_BATCHES, FEW_STEPS = 0.25, 3, 8  # padding that is worth a change; what it takes to judge


class Tokens(NamedTuple):
    """Tokens of a loader's batches.

    Attributes:
        places: Of the batches that were looked at, padding included; 0 where batches hold no tokens.
        share: Of the places that are no padding.
        second: Useful tokens a second of a usual step.
    """

    places: float
    share: float
    second: float


def rate(loader: Loader) -> Tokens:
    """Put the batches of a loader together."""
    batches = [batch for batch in loader.of("batch") if batch["places"]]
    places, useful = total(batches, "places"), total(batches, "useful")
    steps = measured(loader)
    seconds = (steps.wait + steps.compute) * len(batches)
    return Tokens(places, useful / places if places else 0.0, useful / seconds if seconds else 0.0)


def findings(loader: Loader) -> list[Finding]:
    """Say where much of what is computed is padding, whether or not batches are waited for."""
    tokens = rate(loader)
    seen = sum(batch["places"] > 0 for batch in loader.of("batch"))
    if seen < FEW_BATCHES or measured(loader).number < FEW_STEPS or 1 - tokens.share < MUCH:
        return []
    text = (
        f"{1 - tokens.share:.0%} of the places in {seen} batches are padding; "
        f"{tokens.second:,.0f} useful tokens a second"
    )

    def change(stage: Stages) -> Stages:
        """Compute the useful tokens alone: at best, the time shrinks as the places do."""
        less = {name: getattr(stage, name) * tokens.share for name in ("compute", "compute_cpu")}
        return stage._replace(**less)

    return [Finding("padding", [text], change, weight=1 - tokens.share)]
