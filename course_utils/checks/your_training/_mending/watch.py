"""Hooks in a script and in the workers that it forks, and what they write into the log.

The kinds of events: `forward` (number of samples, whether gradients are computed), `stepped`, `saved`, `file`
(what, name, handle), `decode` and `resize` (pixels of the source), `parse` (of a text as long as the labels),
`batch` of a `DataLoader` (samples, bytes, workers), `objects` of a data set that are labels, and `copy` and
`wait` of the scripted device.
"""

import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import Any

import torch
from PIL import Image, ImageFile
from torch.utils.data import dataloader

from course_utils.checks.core import FileRecorder
from course_utils.checks.your_training._mending.device import mark_pinned
from course_utils.checks.your_training._mending.log import Log

PARSES = {"splitlines", "split", "readlines"}
DECODES = {"decode_jpeg", "decode_image", "read_image", "imread", "imdecode"}
MAX_OBJECTS = 100_000


def watch_files(log: Log, files: FileRecorder) -> None:
    """Write the operations on files into the log."""

    def record(kind: str, name: str, handle: int = 0, used: object = None) -> None:
        log.add("file", [kind, name, handle])

    files.record = record  # type: ignore[method-assign]


def watch_work(log: Log, least: int) -> None:
    """Write into the log what is done with photographs and labels.

    Args:
        log: The log.
        least: Characters of the labels as a text.
    """
    load, resize, decode = ImageFile.ImageFile.load, Image.Image.resize, json.JSONDecoder.decode.__code__

    def load_image(self: ImageFile.ImageFile) -> Any:  # noqa: ANN401 - as the original
        if self.tile:
            log.add("decode", self.size[0] * self.size[1])
        return load(self)

    def resize_image(self: Image.Image, *arguments: Any, **options: Any) -> Image.Image:  # noqa: ANN401
        self.load()
        log.add("resize", self.size[0] * self.size[1])
        return resize(self, *arguments, **options)

    def profile(frame: FrameType, event: str, argument: Any) -> None:  # noqa: ANN401 - of any call
        if event == "c_call" and getattr(argument, "__name__", "") in PARSES:
            text = getattr(argument, "__self__", "")
            if isinstance(text, str | bytes) and len(text) >= least:
                log.add("parse")
        elif event == "call" and frame.f_code is decode and len(frame.f_locals["s"]) >= least:
            log.add("parse")
        elif event == "return" and frame.f_code.co_name in DECODES and hasattr(argument, "shape"):
            log.add("decode", int(torch.Size(argument.shape).numel()) // 3)

    ImageFile.ImageFile.load = load_image  # type: ignore[method-assign]
    Image.Image.resize = resize_image  # type: ignore[method-assign]
    threading.setprofile(profile)
    sys.setprofile(profile)


def watch_loaders(log: Log, labels: list[int]) -> None:
    """Write into the log what loaders give, and the labels that their data sets hold as objects."""
    start, following = dataloader.DataLoader.__init__, dataloader._BaseDataLoaderIter.__next__

    def make(self: Any, dataset: Any, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
        log.add("objects", label_objects(dataset, labels))
        start(self, dataset, *arguments, **options)

    def give(self: Any) -> Any:  # noqa: ANN401 - a batch
        batch = following(self)
        tensors = list(tensors_in(batch))
        for tensor in tensors if self._pin_asked else ():
            mark_pinned(tensor)
        size = len(tensors[0]) if tensors and tensors[0].ndim else 0
        log.add("batch", [size, sum(tensor.nbytes for tensor in tensors), self._num_workers])
        return batch

    begin = dataloader._BaseDataLoaderIter.__init__

    def begin_epoch(self: Any, loader: Any) -> None:  # noqa: ANN401
        self._pin_asked = bool(loader.pin_memory)
        loader.pin_memory = False  # there is no real device; this process says what is pinned
        try:
            begin(self, loader)
        finally:
            loader.pin_memory = self._pin_asked

    dataloader.DataLoader.__init__ = make  # type: ignore[method-assign]
    dataloader._BaseDataLoaderIter.__init__ = begin_epoch  # type: ignore[method-assign]
    dataloader._BaseDataLoaderIter.__next__ = give  # type: ignore[method-assign]


def tensors_in(batch: object) -> Iterable[torch.Tensor]:
    """Yield the tensors of a batch."""
    if isinstance(batch, torch.Tensor):
        yield batch
    elif isinstance(batch, Mapping):
        for one in batch.values():
            yield from tensors_in(one)
    elif isinstance(batch, list | tuple):
        for one in batch:
            yield from tensors_in(one)


def label_objects(dataset: object, labels: list[int]) -> int:
    """Return how many objects of a data set are labels, in lists or dictionaries of at least all of them."""
    wanted, found, seen = Counter(labels), 0, set[int]()
    waiting = [dataset]
    while waiting and len(seen) < MAX_OBJECTS:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | torch.Tensor):
            continue
        seen.add(id(one))
        inside = list(one.values()) if isinstance(one, dict) else one
        if isinstance(inside, list | tuple):
            numbers = list(filter(None.__ne__, map(_number, inside)))
            found = max(found, len(numbers) * (wanted <= Counter(numbers)))
            waiting += [item for item in inside if not isinstance(item, int | str | bytes)][:100]
        waiting.append(getattr(one, "__dict__", None))
    return found


def _number(value: Any) -> int | None:  # noqa: ANN401 - what stands in a list
    if isinstance(value, list | tuple) and value:
        value = value[-1]
    if isinstance(value, str) and value.strip().isdigit():
        return int(value)
    return value if isinstance(value, int) else None


def after(function: Callable[..., Any], then: Callable[[], None]) -> Callable[..., Any]:
    """Return a function that calls another one, and then something else."""

    def call(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - as the original
        result = function(*arguments, **options)
        then()
        return result

    return call
