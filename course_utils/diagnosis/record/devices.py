"""Synchronisations and copies of a training on an accelerator. Not seen on a GPU yet."""

import functools
import sys
from collections.abc import Callable
from typing import Any

from course_utils.diagnosis.facts import process
from course_utils.diagnosis.record.spool import complain

WAITING = ("item", "__float__", "__bool__", "__int__", "tolist", "cpu", "numpy", "nonzero")
COPYING = ("to", "cuda", "copy_")
LARGE = 1 << 20


def install(collector: Any) -> None:
    """Replace the methods of tensors that wait for a device or copy to it, where there is an accelerator."""
    torch: Any = sys.modules["torch"]
    if not torch.cuda.is_available():
        return
    tensor = torch.Tensor
    for name in WAITING:
        setattr(tensor, name, _waiting(getattr(tensor, name), collector))
    for name in COPYING:
        setattr(tensor, name, _copying(getattr(tensor, name), collector))


def _compiling() -> bool:
    compiler = getattr(sys.modules["torch"], "compiler", None)
    return bool(compiler and compiler.is_compiling())


def _waiting(method: Callable[..., Any], collector: Any) -> Callable[..., Any]:
    @functools.wraps(method)
    def counted(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        if not tensor.is_cuda or _compiling():
            return method(tensor, *args, **kwargs)
        begin = process.now()
        result = method(tensor, *args, **kwargs)
        collector.counted("synchronisations")
        collector.counters["synchronisation_seconds"] = (
            collector.counters.get("synchronisation_seconds", 0.0) + process.now() - begin
        )
        return result

    return counted


def _copying(method: Callable[..., Any], collector: Any) -> Callable[..., Any]:
    versions: dict[int, int] = {}  # of pinned sources, by address, since the last synchronisation

    @functools.wraps(method)
    def counted(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        result = method(tensor, *args, **kwargs)
        try:
            if not _compiling():
                source = args[0] if method.__name__ == "copy_" else tensor
                target = tensor if method.__name__ == "copy_" else result
                _take_note(source, target, kwargs, collector, versions)
        except Exception as error:
            complain("the record of a copy", error)
        return result

    return counted


def _take_note(source: Any, target: Any, kwargs: Any, collector: Any, versions: dict[int, int]) -> None:
    if not target.is_cuda or source.is_cuda:
        return
    nbytes = source.numel() * source.element_size()
    pinned = source.is_pinned()
    if nbytes > LARGE and not pinned:
        collector.counted("unpinned_copies")
        collector.counters["unpinned_bytes"] = collector.counters.get("unpinned_bytes", 0.0) + nbytes
    if pinned and kwargs.get("non_blocking"):
        address, version = source.data_ptr(), source._version
        if versions.get(address, version) < version:
            collector.counted("rewritten_pinned")
        if len(versions) > 1_000:
            versions.clear()
        versions[address] = version
