"""Create DataLoaders with consistent settings, and without a warning about more workers than cores."""

from typing import Any, TypeVar

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

from course_utils.loading.sampler import integer

_T_co = TypeVar("_T_co", covariant=True)


class QuietDataLoader(DataLoader[_T_co]):
    """A ``DataLoader`` that does not warn on stderr when it starts more workers than there are cores.

    ``course_utils.system.worker_advice`` says the same in a sentence that a notebook can display.
    """

    def check_worker_number_rationality(self) -> None:
        """Do nothing; ``DataLoader`` compares the numbers of workers and cores, and warns."""


def dataloader_kwargs(
    num_workers: int,
    persistent_workers: bool = False,
    pin_memory: bool = False,
    prefetch_factor: int | None = None,
    start_method: str | None = None,
) -> dict[str, Any]:
    """Return those ``DataLoader`` settings that are consistent with each other.

    ``DataLoader`` refuses to keep or prefetch with workers that do not exist, and warns about pinning memory
    without an accelerator, so these settings are left out.

    Args:
        num_workers: Number of worker processes; 0 loads in the main process.
        persistent_workers: Keep the workers from one epoch to the next.
        pin_memory: Copy each batch to page-locked memory, so that its transfer can overlap with computation.
        prefetch_factor: Batches in flight *per worker*; None for ``DataLoader``'s default.
        start_method: ``"fork"``, ``"spawn"`` or ``"forkserver"``; None for Python's default.

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
    dataset: Dataset[Any],
    batch_size: int,
    num_workers: int = 0,
    *,
    shuffle: bool = False,
    seed: int = 0,
    persistent_workers: bool = False,
    pin_memory: bool = False,
    prefetch_factor: int | None = None,
    start_method: str | None = None,
    **options: Any,  # noqa: ANN401 - whatever DataLoader accepts
) -> DataLoader[Any]:
    """Return a ``DataLoader`` that shuffles with a seed and does not warn about the number of workers.

    Args:
        dataset: Map-style or iterable.
        batch_size: Samples per batch.
        num_workers: Number of worker processes; all of them start, even with fewer cores.
        shuffle: Use a new order in each epoch, determined by the seed; ignored for an iterable dataset.
        seed: Seed of the orders and of the workers' own generators.
        persistent_workers: As in `dataloader_kwargs`.
        pin_memory: As in `dataloader_kwargs`.
        prefetch_factor: As in `dataloader_kwargs`.
        start_method: As in `dataloader_kwargs`.
        **options: Passed to ``DataLoader`` unchanged (``collate_fn``, ``sampler``, ...).

    Raises:
        TypeError: `batch_size` or `seed` is no integer, also of NumPy.
        ValueError: One of them is too small.
    """
    batch_size, seed = integer("batch_size", batch_size, 1), integer("seed", seed, 0)
    kwargs = dataloader_kwargs(num_workers, persistent_workers, pin_memory, prefetch_factor, start_method)
    generator = torch.Generator().manual_seed(seed)
    shuffle = shuffle and not isinstance(dataset, IterableDataset)
    return QuietDataLoader(dataset, batch_size, shuffle, generator=generator, **kwargs, **options)
