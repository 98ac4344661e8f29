"""The ranks of a job: join them, and let them agree on and collect values."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

import torch
from torch import distributed

_T = TypeVar("_T")


class OtherRankError(RuntimeError):
    """Another rank failed, or has something else than this one; the message says which and what."""


@dataclass(frozen=True)
class World:
    """This process among all that train together.

    Attributes:
        rank: Its number.
        size: Number of processes.
        device: Where it computes.
    """

    rank: int = 0
    size: int = 1
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    def any(self, value: bool) -> bool:
        """Return whether the value is true on some rank; all ranks must call this, and all get the same."""
        if self.size == 1:
            return value
        found = torch.tensor([int(value)])
        distributed.all_reduce(found, distributed.ReduceOp.MAX)
        return bool(found.item())

    def gather(self, value: _T) -> list[_T]:
        """Return the values of all ranks on rank 0, and nothing elsewhere; all ranks must call this."""
        if self.size == 1:
            return [value]
        found: list[_T] | None = [value] * self.size if self.rank == 0 else None
        distributed.gather_object(value, found)
        return found or []

    def from_first(self, value: _T) -> _T:
        """Return the value of rank 0; all ranks must call this."""
        if self.size == 1:
            return value
        values = [value]
        distributed.broadcast_object_list(values, src=0)
        return values[0]

    def together(self, action: Callable[[], _T]) -> _T:
        """Return what an action returns here; all ranks must call this.

        If it fails on one, it fails on all: the others would wait for that one until their limit.

        Raises:
            OtherRankError: It failed on another rank.
        """
        error: Exception | None = None
        try:
            result = action()
        except Exception as caught:
            error = caught
        messages = self._all("" if error is None else f"{type(error).__name__}: {error}")
        if error is not None:
            raise error
        for rank, message in enumerate(messages):
            if message:
                raise OtherRankError(f"rank {rank} failed: {message}")
        return result

    def require_same(self, value: object, what: str) -> None:
        """Compare a value with that of rank 0, by its text; all ranks must call this.

        Args:
            value: Something with an informative repr.
            what: Its name, for the message.

        Raises:
            OtherRankError: A rank has another one; raised on all ranks.
        """
        first, *others = self._all(repr(value))
        for rank, other in enumerate(others, 1):
            if other != first:
                raise OtherRankError(f"rank {rank} has other {what} than rank 0: {other} instead of {first}")

    def _all(self, value: _T) -> list[_T]:
        values = [value] * self.size
        if self.size > 1:
            distributed.all_gather_object(values, value)
        return values


@contextmanager
def joined(limit: float = 600, on_cpu: bool = False) -> Iterator[World]:
    """Join the ranks that torchrun or srun has started; without them, be the only one.

    Both tell each process its number by environment variables: RANK, WORLD_SIZE, LOCAL_RANK, and in
    MASTER_ADDR and MASTER_PORT where rank 0 listens.

    Args:
        limit: Seconds that a rank waits for the others at most.
        on_cpu: Compute on the CPU, also where there is a GPU.
    """
    gpus = 0 if on_cpu else torch.cuda.device_count()
    if "RANK" not in os.environ:
        yield World(device=_device(0, gpus))
        return
    backend = backend_for(gpus, int(os.environ.get("LOCAL_WORLD_SIZE", 1)))
    distributed.init_process_group(backend, timeout=timedelta(seconds=limit))
    try:
        local = distributed.get_node_local_rank(0)
        yield World(distributed.get_rank(), distributed.get_world_size(), _device(local, gpus))
    finally:
        distributed.destroy_process_group()


def backend_for(gpus: int, local_ranks: int) -> str:
    """Return what sends tensors between ranks: NCCL refuses two ranks on one GPU, gloo does not."""
    return "cpu:gloo,cuda:nccl" if gpus >= local_ranks else "gloo"


def _device(local_rank: int, gpus: int) -> torch.device:
    if gpus == 0:
        return torch.device("cpu")
    # Where Slurm gives each task one GPU, all of them see it as number 0.
    device = torch.device("cuda", local_rank % gpus)
    torch.cuda.set_device(device)
    return device
