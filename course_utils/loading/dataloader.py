"""DataLoaders with settings that go together, and without a warning for having more workers than cores."""

from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

__all__ = ["QuietDataLoader", "accelerator_or_cpu", "dataloader_kwargs", "make_loader"]


class QuietDataLoader(DataLoader):
    """A ``DataLoader`` that starts as many workers as it is told, and says nothing on stderr about it.

    ``course_utils.system.cpu_count.worker_advice`` says the same as a sentence that a notebook can show.
    """

    def check_worker_number_rationality(self) -> None:
        """Say nothing, where ``DataLoader`` compares the workers with the cores and warns."""


def accelerator_or_cpu() -> torch.device:
    """Name the accelerator that PyTorch finds (CUDA, MPS, ...), or the CPU."""
    return (
        torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")
    )


def dataloader_kwargs(
    num_workers: int,
    persistent_workers: bool = False,
    pin_memory: bool = False,
    prefetch_factor: int | None = None,
    start_method: str | None = None,
) -> dict[str, Any]:
    """Keep those ``DataLoader`` settings that make sense together.

    Without workers there is nothing to keep alive or to prefetch, and without an accelerator nothing to pin
    for: ``DataLoader`` refuses the first two and warns about the third, so they are left out.

    Args:
        num_workers: processes that load; 0 loads in the main process.
        persistent_workers: keep the workers from one epoch to the next.
        pin_memory: copy each batch to page-locked memory, so that its transfer can overlap with work.
        prefetch_factor: batches in flight *per worker*; None is ``DataLoader``'s own choice.
        start_method: ``"fork"``, ``"spawn"`` or ``"forkserver"``; None follows Python's default.

    Returns:
        Keyword arguments for ``DataLoader``.

    Example:
        >>> dataloader_kwargs(0, persistent_workers=True)
        {'num_workers': 0}
        >>> dataloader_kwargs(2, persistent_workers=True)
        {'num_workers': 2, 'persistent_workers': True}
    """
    kwargs: dict[str, Any] = {"num_workers": num_workers}
    if pin_memory and torch.accelerator.is_available():
        kwargs["pin_memory"] = True
    if num_workers == 0:
        return kwargs
    if persistent_workers:
        kwargs["persistent_workers"] = True
    if prefetch_factor is not None:
        kwargs["prefetch_factor"] = prefetch_factor
    if start_method is not None:
        kwargs["multiprocessing_context"] = start_method
    return kwargs


def make_loader(
    dataset: Dataset,
    batch_size: int,
    num_workers: int = 0,
    *,
    shuffle: bool = False,
    seed: int = 0,
    **more: object,
) -> DataLoader:
    """Make a ``DataLoader`` that shuffles by a seed of its own and never warns about its workers.

    Args:
        dataset: map-style or iterable.
        batch_size: samples in a batch.
        num_workers: processes that load; all of them run, also with fewer cores.
        shuffle: a new order in each epoch, the same ones for the same seed; iterable datasets keep theirs.
        seed: for the orders and for the workers' own generators.
        **more: ``persistent_workers``, ``pin_memory``, ``prefetch_factor`` and ``start_method`` as in
            `dataloader_kwargs`; anything else goes to ``DataLoader`` as it is (``collate_fn``, ``sampler``).
    """
    ours = ("persistent_workers", "pin_memory", "prefetch_factor", "start_method")
    kwargs = dataloader_kwargs(num_workers, **{name: more.pop(name) for name in ours if name in more})
    generator = torch.Generator().manual_seed(seed)
    shuffle = shuffle and not isinstance(dataset, IterableDataset)
    return QuietDataLoader(dataset, batch_size, shuffle, generator=generator, **kwargs, **more)
