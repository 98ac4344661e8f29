"""A loader whose workers are threads of the process that trains."""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any

from torch.utils.data import Dataset, default_collate

PREFETCH = 2  # batches a thread, as in a `DataLoader`


class ThreadLoader:
    """Loads batches of a dataset in threads, and gives them in order.

    Nothing is pickled or copied to another process, and the threads share what the dataset holds: its methods
    must be safe to call from several at once.

    Args:
        dataset: Map-style; each of its samples is asked for by one thread.
        batches: The indices of each batch.
        threads: How many load at a time.
    """

    def __init__(self, dataset: Dataset[Any], batches: Sequence[Sequence[int]], threads: int) -> None:
        if threads < 1:
            raise ValueError(f"a loader needs at least one thread, not {threads}")
        self.dataset, self.batches, self.threads = dataset, batches, threads

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Any]:
        waiting = iter(self.batches)
        with ThreadPoolExecutor(self.threads) as pool:
            flying: deque[Future[Any]] = deque(
                pool.submit(self._load, batch) for batch in islice(waiting, self.threads * PREFETCH)
            )
            try:
                while flying:
                    loaded = flying.popleft().result()
                    flying.extend(pool.submit(self._load, batch) for batch in islice(waiting, 1))
                    yield loaded
            finally:
                for future in flying:
                    future.cancel()

    def _load(self, batch: Sequence[int]) -> Any:  # noqa: ANN401 - what the dataset's samples collate to
        return default_collate([self.dataset[index] for index in batch])
