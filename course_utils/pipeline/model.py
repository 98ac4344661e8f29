"""A model of an input pipeline: what a `DataLoader`, a copy engine and an accelerator do, and when.

The model follows PyTorch's `DataLoader` rule by rule. Batch k belongs to worker k mod `workers`. At most
`workers * prefetch_factor` batches are on order; taking a batch orders one more. A worker prepares whole
batches, one after the other. The pin thread takes batches as they arrive, the training loop takes them in
order. Copies and computations are queued on streams, and a stream does one thing at a time.
"""

from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from course_utils.pipeline.simulation import Process, Simulation, Store
from course_utils.pipeline.stage_times import StageTimes
from course_utils.pipeline.trace import Run, Span

_withheld = ContextVar("withheld", default=False)


@dataclass(frozen=True)
class Pipeline:
    """How the stages are put together.

    Args:
        workers: `num_workers`; 0 loads in the main process.
        prefetch_factor: Batches on order per worker.
        pin: `pin_memory`: a thread (or, without workers, the main process) copies to page-locked memory.
        non_blocking: The main process does not wait for a copy to the accelerator if its source is pinned.
        device_prefetch: Batches copied ahead on a stream of their own; 0 copies on the computing stream.
        steps_ahead: Steps that the main process may be ahead of the accelerator; 0 waits for every step, as a
            loop does that reads the loss each time.
        in_order: Batches are handed over in the order of the sampler.
        accelerator: Whether another device computes; otherwise the main process does.
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
        for name, least in (
            ("workers", 0),
            ("prefetch_factor", 1),
            ("device_prefetch", 0),
            ("steps_ahead", 0),
        ):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least {least}")
        if not self.accelerator and (self.device_prefetch or self.steps_ahead):
            raise ValueError("device_prefetch and steps_ahead need an accelerator that computes by itself")

    @property
    def host_waits_for_copy(self) -> bool:
        """A copy returns at once only from pinned memory and only when asked to."""
        return not (self.pin and self.non_blocking)


class _Model:
    """One run of the model: the processes and the stores between them."""

    def __init__(self, pipeline: Pipeline, times: StageTimes, batches: int) -> None:
        self.pipeline, self.times, self.batches = pipeline, times, batches
        self.simulation = Simulation()
        self.spans: list[Span] = []
        self.arrived, self.ready = self._store(), self._store()
        self.orders = [self._store() for _ in range(pipeline.workers)]
        self.on_order = [0] * pipeline.workers
        self.next_order, self.next_worker = 0, 0
        self.copied = [self._store() for _ in range(batches)]
        self.computed = [self._store() for _ in range(batches)]

    def _store(self) -> Store:
        return Store(self.simulation)

    def _do(self, lane: str, stage: str, batch: int) -> Generator[Any, Any, None]:
        start, seconds = self.simulation.now, self.times.of(stage, batch)
        yield seconds
        if seconds:
            self.spans.append(Span(lane, stage, batch, start, self.simulation.now))

    def _order_batch(self) -> None:
        if self.next_order == self.batches:
            return
        workers = len(self.orders)
        while not self.pipeline.in_order and self.on_order[self.next_worker] >= self.pipeline.prefetch_factor:
            self.next_worker = (self.next_worker + 1) % workers
        self.on_order[self.next_worker] += 1
        self.orders[self.next_worker].put((self.next_worker, self.next_order))
        self.next_worker, self.next_order = (self.next_worker + 1) % workers, self.next_order + 1

    def worker(self, number: int) -> Process:
        """Prepare the batches that were ordered from this worker, one by one."""
        while True:
            order = yield self.orders[number]
            for stage in ("read", "decode"):
                yield from self._do(f"worker {number}", stage, order[1])
            self.arrived.put(order)

    def pin_thread(self) -> Process:
        """Pin batches in the order of their arrival."""
        while True:
            order = yield self.arrived
            yield from self._do("pin thread", "pin", order[1])
            self.ready.put(order)

    def stream(self, lane: str, work: Store) -> Process:
        """Do queued work in order; each item waits for what it needs first."""
        while True:
            needs, stage, batch, done = yield work
            if needs is not None:
                yield needs
            yield from self._do(lane if stage == "compute" else self.copy_lane, stage, batch)
            done.put()

    @property
    def copy_lane(self) -> str:
        return "copy engine" if self.pipeline.accelerator else "main process"

    def delivered(self) -> Iterator[Any]:
        """What the training loop's `next()` does; a generator of generators that return a batch's number."""
        early: dict[int, int] = {}

        def load_here(batch: int) -> Generator[Any, Any, int]:
            for stage in ("read", "decode", *(["pin"] if self.pipeline.pin else [])):
                yield from self._do("main process", stage, batch)
            return batch

        def take(batch: int) -> Generator[Any, Any, int]:
            start = self.simulation.now
            while batch not in early:
                worker, number = yield self.ready
                early[number] = worker
                batch = batch if self.pipeline.in_order else number
            yield self.times.of("hand_over", batch)
            self.on_order[early.pop(batch)] -= 1
            if self.simulation.now > start:
                self.spans.append(Span("main process", "wait", batch, start, self.simulation.now))
            self._order_batch()
            return batch

        return ((take if self.orders else load_here)(batch) for batch in range(self.batches))

    def main(self, compute: Store, copy: Store) -> Process:
        """The training loop: take a batch, queue its copy, queue the step, wait as often as it is told to."""
        p, in_flight, launched = self.pipeline, deque(), []
        batches = self.delivered()
        for step in range(self.batches + p.device_prefetch):
            if step < self.batches:
                batch = yield from next(batches)
                in_flight.append(batch)
                copy.put((None, "transfer", batch, self.copied[batch]))
                if p.host_waits_for_copy:
                    yield self.copied[batch]
                    self.copied[batch].put()
            if step >= p.device_prefetch:
                batch = in_flight.popleft()
                compute.put((self.copied[batch], "compute", batch, self.computed[batch]))
                launched.append(batch)
                if len(launched) > p.steps_ahead:
                    yield self.computed[launched[-1 - p.steps_ahead]]

    def run(self) -> tuple[Span, ...]:
        """Run to the end and return the spans by time."""
        p, simulation = self.pipeline, self.simulation
        compute = self._store()
        copy = self._store() if p.device_prefetch else compute
        lane = "accelerator" if p.accelerator else "main process"
        simulation.start(*(self.worker(number) for number in range(p.workers)))
        if p.pin and p.workers:
            simulation.start(self.pin_thread())
        else:
            self.ready = self.arrived
        for _ in range(p.workers * p.prefetch_factor):
            self._order_batch()
        simulation.start(
            self.stream(lane, compute), *([self.stream(lane, copy)] if copy is not compute else [])
        )
        simulation.start(self.main(compute, copy))
        simulation.run()
        return tuple(sorted(self.spans, key=lambda s: (s.start, s.end, s.lane)))


@contextmanager
def withheld() -> Iterator[None]:
    """Make `simulate` refuse inside the block: a check uses it where finding the rule is the exercise."""
    token = _withheld.set(True)
    try:
        yield
    finally:
        _withheld.reset(token)


def simulate(
    pipeline: Pipeline, times: StageTimes, batches: int, batch_size: int = 1, name: str = "model"
) -> Run:
    """Run the model.

    Args:
        pipeline: How the stages are put together.
        times: Seconds per batch of each stage.
        batches: How many batches to load and compute.
        batch_size: Samples per batch, for the throughput.
        name: Name of the run, for titles.

    Returns:
        The run with the exact time of every event; its source is "model".

    Raises:
        RuntimeError: Inside a check that asks you to write the rule yourself.
    """
    if _withheld.get():
        raise RuntimeError("the lesson's model is not available here: this exercise asks for your own rule")
    return Run(name, "model", _Model(pipeline, times, batches).run(), batch_size)
