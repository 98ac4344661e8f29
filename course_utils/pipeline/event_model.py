"""A model of an input pipeline: when a `DataLoader`, a copy engine and an accelerator do their work.

The model follows the rules of PyTorch's `DataLoader`. Batch k belongs to worker k mod `workers`. At most
`workers * prefetch_factor` batches are outstanding; taking a batch requests one more. A worker prepares whole
batches, one after the other. The pin thread takes batches in the order of their arrival, the training loop
takes them in the sampler's order. Copies and kernels are queued on streams, and a stream runs one at a time.

Withheld from submissions: it would answer an exercise.
"""

from collections import deque
from collections.abc import Generator
from typing import Any, NamedTuple

from course_utils.pipeline.settings import Pipeline, refuse_if_disabled
from course_utils.pipeline.simulation import Process, Simulation, Store
from course_utils.pipeline.stage_times import StageTimes
from course_utils.pipeline.trace import Span


class _Request(NamedTuple):
    """A batch that a worker is asked for; both are numbers."""

    worker: int
    batch: int


class EventModel:
    """One run of the model: the processes and the stores between them."""

    def __init__(self, pipeline: Pipeline, times: StageTimes, batches: int) -> None:
        self.pipeline, self.times, self.batches = pipeline, times, batches
        self.simulation = Simulation()
        self.spans: list[Span] = []
        self.collated, self.ready = self._store(), self._store()
        self.requests = [self._store() for _ in range(pipeline.workers)]
        self.outstanding = [0] * pipeline.workers
        self.next_request, self.next_worker = 0, 0
        self.workers_of_arrived: dict[int, int] = {}  # of batches that the training loop has not taken
        self.copied = [self._store() for _ in range(batches)]
        self.computed = [self._store() for _ in range(batches)]

    def _store(self) -> Store:
        return Store(self.simulation)

    def _run_stage(self, lane: str, stage: str, batch: int) -> Process:
        start, seconds = self.simulation.now, self.times.of(stage, batch)
        yield seconds
        if seconds:
            self.spans.append(Span(lane, stage, batch, start, self.simulation.now))

    def _request_batch(self) -> None:
        """Send the next batch number to the next worker that has capacity."""
        if self.next_request == self.batches:
            return
        p = self.pipeline
        while not p.in_order and self.outstanding[self.next_worker] >= p.prefetch_factor:
            self.next_worker = (self.next_worker + 1) % p.workers
        self.outstanding[self.next_worker] += 1
        self.requests[self.next_worker].put(_Request(self.next_worker, self.next_request))
        self.next_worker, self.next_request = (self.next_worker + 1) % p.workers, self.next_request + 1

    def worker(self, number: int) -> Process:
        """Prepare the batches requested from this worker, one after the other."""
        while True:
            request = yield self.requests[number]
            for stage in ("read", "decode"):
                yield from self._run_stage(f"worker {number}", stage, request.batch)
            self.collated.put(request)

    def pin_thread(self) -> Process:
        """Pin batches in the order of their arrival."""
        while True:
            request = yield self.collated
            yield from self._run_stage("pin thread", "pin", request.batch)
            self.ready.put(request)

    def stream(self, lane: str, work: Store) -> Process:
        """Run queued work in order; each item first waits for its dependency."""
        while True:
            dependency, stage, batch, done = yield work
            if dependency is not None:
                yield dependency
            yield from self._run_stage(lane if stage == "compute" else self.copy_lane, stage, batch)
            done.put()

    @property
    def copy_lane(self) -> str:
        """The lane in which copies are drawn."""
        return "copy engine" if self.pipeline.accelerator else "main process"

    def _load_in_main(self, batch: int) -> Generator[float | Store, Any, int]:
        """Load a batch in the main process and return its number."""
        for stage in ("read", "decode", *(["pin"] if self.pipeline.pin else [])):
            yield from self._run_stage("main process", stage, batch)
        return batch

    def _take(self, batch: int) -> Generator[float | Store, Any, int]:
        """Take `batch`, or if order does not matter the next one to arrive; return its number."""
        start = self.simulation.now
        while batch not in self.workers_of_arrived:
            worker, number = yield self.ready
            self.workers_of_arrived[number] = worker
            batch = batch if self.pipeline.in_order else number
        yield self.times.of("hand_over", batch)
        self.outstanding[self.workers_of_arrived.pop(batch)] -= 1
        if self.simulation.now > start:
            self.spans.append(Span("main process", "wait", batch, start, self.simulation.now))
        self._request_batch()
        return batch

    def main(self, compute: Store, copy: Store) -> Process:
        """Run the training loop: take a batch, queue its copy and its step, wait as the settings say."""
        p = self.pipeline
        in_flight: deque[int] = deque()
        launched: list[int] = []
        next_batch = self._take if p.workers else self._load_in_main
        for step in range(self.batches + p.device_prefetch):
            if step < self.batches:
                batch = yield from next_batch(step)
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
        """Run to the end and return the spans, sorted by time.

        Raises:
            RuntimeError: Inside a check whose exercise is to write the rule yourself.
        """
        refuse_if_disabled()
        p, simulation = self.pipeline, self.simulation
        compute = self._store()
        copy = self._store() if p.device_prefetch else compute
        lane = "accelerator" if p.accelerator else "main process"
        simulation.start(*(self.worker(number) for number in range(p.workers)))
        if p.pin and p.workers:
            simulation.start(self.pin_thread())
        else:
            self.ready = self.collated
        for _ in range(p.workers * p.prefetch_factor):
            self._request_batch()
        simulation.start(
            self.stream(lane, compute), *([self.stream(lane, copy)] if copy is not compute else [])
        )
        simulation.start(self.main(compute, copy))
        simulation.run()
        return tuple(sorted(self.spans, key=lambda s: (s.start, s.end, s.lane)))
