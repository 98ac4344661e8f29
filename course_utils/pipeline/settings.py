"""The settings of an input pipeline, and a switch that makes its simulation unavailable to a check."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

REFUSAL = "simulate() is not available to this check: the exercise asks for your own rule"
# One entry for each `simulation_disabled` block, in whatever thread. While there is one, an environment
# variable says so to the programs that a student's code starts: the grader's sandbox hides the model from
# them, too.
_disabled: list[None] = []
_VARIABLE = "COURSE_SIMULATION_DISABLED"
_MINIMUM = {"workers": 0, "prefetch_factor": 1, "device_prefetch": 0, "steps_ahead": 0}


@dataclass(frozen=True)
class Pipeline:
    """The settings of an input pipeline.

    Args:
        workers: `num_workers`; 0 loads in the main process.
        prefetch_factor: Outstanding batches per worker.
        pin: `pin_memory`: a thread (or, without workers, the main process) copies to page-locked memory.
        non_blocking: The main process does not wait for a copy to the accelerator if its source is pinned.
        device_prefetch: Batches copied ahead on a side stream; 0 copies on the compute stream.
        steps_ahead: Steps that the main process may be ahead of the accelerator; 0 waits for every step, as a
            loop does that reads the loss each time.
        in_order: Deliver the batches in the sampler's order.
        accelerator: Whether a separate device computes, rather than the main process.

    Raises:
        ValueError: A setting is out of range, or needs an accelerator and there is none.
    """

    workers: int = 0
    prefetch_factor: int = 2
    pin: bool = False
    non_blocking: bool = False
    device_prefetch: int = 0
    steps_ahead: int = 0
    in_order: bool = True
    accelerator: bool = True

    def __post_init__(self) -> None:
        for name, minimum in _MINIMUM.items():
            if getattr(self, name) < minimum:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least {minimum}")
        if not self.accelerator and (self.device_prefetch or self.steps_ahead):
            raise ValueError("device_prefetch and steps_ahead need an accelerator that computes by itself")

    @property
    def host_waits_for_copy(self) -> bool:
        """Whether a copy blocks the host, as it is asynchronous only from pinned memory and on request."""
        return not (self.pin and self.non_blocking)


@contextmanager
def simulation_disabled() -> Iterator[None]:
    """Make `simulate` raise inside the `with` block, for a check whose exercise is to find the rule.

    In every thread of this process, and in the processes and programs that it starts meanwhile.
    """
    _disabled.append(None)
    os.environ[_VARIABLE] = "yes"
    try:
        yield
    finally:
        _disabled.pop()
        if not _disabled:
            del os.environ[_VARIABLE]


def refuse_if_disabled() -> None:
    """Raise inside a `simulation_disabled` block.

    Raises:
        RuntimeError: It is one.
    """
    if _VARIABLE in os.environ:
        raise RuntimeError(REFUSAL)
