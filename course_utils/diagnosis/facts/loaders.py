"""What can be said of a `DataLoader` without running it: settings, sampler, the lists of its dataset."""

import re
from pathlib import PurePath
from typing import Any

MANY_OBJECTS = 50_000  # Python objects of a dataset whose pages are worth a look

LABELS = re.compile(r"label|target|class|caption|mask|annot|^ys?$|^_?y_", re.IGNORECASE)
INPUTS = re.compile(r"image|img|path|file|sample|data|text|input|name|^xs?$|^_?x_", re.IGNORECASE)


def settings(loader: Any) -> dict[str, Any]:
    """Return the settings of a loader."""
    dataset = loader.dataset
    sampler = getattr(loader, "sampler", None)
    inner = getattr(getattr(loader, "batch_sampler", None), "sampler", None)
    sampler = inner if inner is not None and hasattr(inner, "set_epoch") else sampler
    context = getattr(loader, "multiprocessing_context", None)
    return {
        "dataset": type(dataset).__name__, "length": _length(dataset),
        "iterable": loader._dataset_kind == 1, "batch_size": loader.batch_size, "workers": loader.num_workers,
        "prefetch": getattr(loader, "prefetch_factor", None) or 2, "persistent": loader.persistent_workers,
        "drop_last": _drops_last(loader), "sampler": type(sampler).__name__,
        "set_epoch": hasattr(sampler, "set_epoch"), "shuffle": getattr(sampler, "shuffle", None),
        "replicas": getattr(sampler, "num_replicas", 1), "replica": getattr(sampler, "rank", 0),
        "total_size": getattr(sampler, "total_size", -1),
        "replacement": getattr(sampler, "replacement", False),
        "start": context.get_start_method() if context else _start_method(),
        "wrapper": type(loader).__module__.split(".")[0], "lists": parallel_lists(dataset),
        "objects": objects(dataset),
    }  # fmt: skip


def sampler_epoch(loader: Any) -> int:
    """Return the epoch that the sampler believes in, or -1."""
    for sampler in (getattr(loader, "sampler", None), getattr(loader.batch_sampler, "sampler", None)):
        if isinstance(getattr(sampler, "epoch", None), int):
            return int(sampler.epoch)  # type: ignore[union-attr]
    return -1


def _drops_last(loader: Any) -> bool:
    return bool(loader.drop_last or getattr(loader.batch_sampler, "drop_last", False))


def _length(dataset: Any) -> int:
    try:
        return len(dataset)
    except (TypeError, NotImplementedError, AttributeError):
        return -1


def objects(dataset: Any) -> int:
    """Python objects in the lists and dictionaries of a dataset, roughly."""
    inner = getattr(dataset, "dataset", dataset)
    held = (
        value
        for value in list(getattr(inner, "__dict__", {}).values())
        if isinstance(value, (list, tuple, dict))
    )
    return sum(len(value) * (1 + _inside(value)) for value in held if value)


def _inside(value: Any) -> int:
    first = next(iter(value.values() if isinstance(value, dict) else value))
    return len(first) if isinstance(first, (list, tuple, dict)) else 0


def _start_method() -> str:
    import multiprocessing

    return multiprocessing.get_start_method(allow_none=False)


def parallel_lists(dataset: Any) -> list[str]:
    """Name pairs of lists of a dataset that should match and do not: by length, or by the stems of paths."""
    inner = getattr(dataset, "dataset", dataset)
    lists = {
        name: value
        for name, value in list(getattr(inner, "__dict__", {}).items())
        if isinstance(value, (list, tuple)) or (hasattr(value, "shape") and len(value.shape) > 0)
        if len(value) >= 4
    }
    inputs = {name: value for name, value in lists.items() if INPUTS.search(name) and not LABELS.search(name)}
    labels = {name: value for name, value in lists.items() if LABELS.search(name)}
    wrong = []
    for (first, one), (second, other) in ((a, b) for a in inputs.items() for b in labels.items()):
        if len(one) != len(other) and 0.5 < len(one) / len(other) < 2:
            wrong.append(f"{first} has {len(one)} items, {second} has {len(other)}")
        elif len(one) == len(other) and _stems_disagree(one, other):
            wrong.append(f"{first} and {second} name the same files in another order")
    return wrong


def _stems_disagree(one: Any, other: Any) -> bool:
    if not all(isinstance(value, (str, PurePath)) for value in (one[0], other[0])):
        return False
    first = [PurePath(value).stem for value in one[:10_000]]
    second = [PurePath(value).stem for value in other[:10_000]]
    return first != second and set(first) == set(second)
