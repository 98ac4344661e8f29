"""Memory for batches that is used over and over, but never while somebody still holds a batch in it."""

import weakref
from collections import deque

import numpy as np
import torch


class BufferPool:
    """Tensors of one shape in reused memory.

    New memory costs a page fault every 4 KiB, so a tensor's memory comes back here when the tensor and all
    that share memory with it are gone, and serves the next one. Who keeps every tensor gets new memory each
    time; nobody ever finds other numbers in a tensor that is kept.

    Args:
        shape: Shape of the tensors.
        dtype: Their type.
        pinned: Use page-locked memory, from which a GPU can copy while the CPU goes on.
    """

    def __init__(
        self, shape: tuple[int, ...], dtype: torch.dtype = torch.uint8, pinned: bool = False
    ) -> None:
        self.shape, self.dtype, self.pinned = shape, dtype, pinned
        self._free: deque[np.ndarray] = deque()

    def take(self) -> torch.Tensor:
        """Return a tensor with any content."""
        try:
            memory = self._free.pop()
        except IndexError:
            memory = self._new()
        lent = memory.view()  # the tensor's storage holds this view, so the view ends when the storage does
        weakref.finalize(lent, self._free.append, memory).atexit = False
        return torch.from_numpy(lent)

    def _new(self) -> np.ndarray:
        if self.pinned:
            return torch.empty(self.shape, dtype=self.dtype, pin_memory=True).numpy()
        # NumPy asks the system for huge pages, and PyTorch does not: the processor finds addresses faster.
        return np.empty(self.shape, torch.empty(0, dtype=self.dtype).numpy().dtype)
