"""One pass over one loader, as the main process sees it, in bounded memory."""

import random
import time
import weakref
from typing import Any

import torch

from course_utils.diagnosis.facts import content, loaders, orders, process
from course_utils.diagnosis.record.fetch import Own

MOST_ROWS = 4_000  # steps in detail; of more a random part is kept
LATER_ROWS = 400  # of a pass after the first few
EARLY = 4  # passes
MOST_DESCRIPTORS = 400


class Epoch:
    """One pass over one loader.

    Args:
        name: Number of the iterator and of its pass, as "3.0".
        loader: What is iterated over.
        passes: How many were before it: of later ones fewer steps are kept.
    """

    def __init__(self, name: str, loader: Any, passes: int = 0) -> None:
        self.name, self.settings = name, loaders.settings(loader)
        self.most_rows = MOST_ROWS if passes < EARLY else LATER_ROWS
        self.sampler_epoch = loaders.sampler_epoch(loader)
        self.begun = process.now()
        self.made = self.first_batch = self.ended = 0.0
        self.order = orders.Order(self.settings["length"])
        self.rows: list[list[float]] = []
        self.latest: list[float] = []
        self.draw = random.Random(0)
        self.count = self.steps = self.graded = self.aliased = 0
        self.complete = False
        self.left: tuple[float, ...] = ()  # the counters when the script got its latest batch
        self.own = self.sampler_seconds = 0.0
        self.pids: list[int] = []
        self.alive: list[tuple[Any, int]] = []
        self.descriptors: list[int] = []

    def asked(self, index: Any, seconds: float) -> None:
        """The sampler gave the indices of a batch."""
        self.sampler_seconds += seconds
        if not self.settings["iterable"]:
            self.order.add(index)

    def entered(self, iterator: Any, counters: tuple[float, ...]) -> list[float]:
        """The script asks for a batch; the step before it has ended."""
        if self.left:
            self.latest[5:] = [new - old for new, old in zip(counters, self.left, strict=True)]
            self.steps += int(self.latest[6])
        self.graded += torch.is_grad_enabled()
        ready = -1.0
        if self.settings["workers"] and hasattr(iterator, "_data_queue"):
            ready = float(not iterator._data_queue.empty())
        self._look_for_reuse()
        if self.count % 8 == 0 and len(self.descriptors) < MOST_DESCRIPTORS:
            self.descriptors.append(process.open_descriptors()[0])
        self.own = Own.seconds
        return [process.now(), 0.0, time.thread_time(), ready, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0]

    def got(self, iterator: Any, row: list[float]) -> float:
        """The script got a batch; return the seconds for which it waited."""
        row[2] = time.thread_time() - row[2]
        now = process.now()
        row[1] = max(now - row[0] - (Own.seconds - self.own), 0.0)
        self.first_batch = self.first_batch or now
        row[4] = float(sum(len(task) == 2 for task in getattr(iterator, "_task_info", {}).values()))
        if not self.pids:
            self.pids = [worker.pid for worker in getattr(iterator, "_workers", [])]
        self._add(row)
        return row[1]

    def _add(self, row: list[float]) -> None:
        """Keep a step; with many, each is kept with equal probability."""
        self.count += 1
        self.latest = row
        if len(self.rows) < self.most_rows:
            self.rows.append(row)
        elif (place := self.draw.randrange(self.count)) >= self.most_rows // 4 and place < self.most_rows:
            self.rows[place] = row

    def remember(self, batch: object) -> None:
        """Remember where a batch lies, to see whether the next one is written into it while it is alive."""
        if self.settings["workers"] == 0 and self.count < 500:
            tensor: Any = next((part for part in content.leaves(batch, 8) if hasattr(part, "data_ptr")), None)
            if tensor is not None and tensor.numel():
                self.alive = [*self.alive[-6:], (weakref.ref(tensor), tensor.data_ptr())]

    def _look_for_reuse(self) -> None:
        """Count batches that are alive at the same place."""
        alive = [pointer for reference, pointer in self.alive if reference() is not None]
        self.aliased += len(alive) > len(set(alive))

    def summary(self) -> dict[str, Any]:
        """What the judge needs of it."""
        same = (
            "name", "settings", "count", "steps", "complete", "begun", "made", "first_batch",
            "pids", "sampler_epoch", "aliased", "descriptors", "sampler_seconds",
        )  # fmt: skip
        return {name: getattr(self, name) for name in same} | {
            "order": self.order.summary(), "training": self.graded * 2 > self.count,
            "ended": self.ended or (self.left[0] if self.left else 0.0),
            "rows": [[round(number, 7) for number in row] for row in self.rows],
        }  # fmt: skip
