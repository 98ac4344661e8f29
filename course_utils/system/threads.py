"""Limit PyTorch's own threads where decoders or workers use the cores."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit PyTorch's operations to one thread within the context.

    Where decoders or workers use all cores, more threads would only wait for each other.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
