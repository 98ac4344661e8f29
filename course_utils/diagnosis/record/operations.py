"""Count what a fetch asks of files, of HTTP servers and of Pillow; counts only while a fetch is running."""

import functools
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from course_utils.diagnosis.record.imports import after_import

FIELDS = (
    "opens",
    "stats",
    "failed",
    "listings",
    "requests",
    "decodes",
    "decode_seconds",
    "load_seconds",
    "decoded",
    "cropped",
)
UNSEEN = ("obstore", "aiohttp", "httpx")  # clients whose requests no event of Python tells
IGNORED = ("/proc", "/sys", "/dev", sys.prefix, sys.base_prefix)

counts: dict[str, float] = dict.fromkeys(FIELDS, 0)
_active: set[int] = set()  # threads that are inside a fetch
_inside: list[bool] = []  # a method of a picture that calls others
_installed: set[str] = set()


def start() -> dict[str, float]:
    """Count from here on in this thread; return the counts so far."""
    _active.add(threading.get_ident())
    return counts.copy()


def stop(before: dict[str, float]) -> dict[str, float]:
    """Stop counting, and return what was counted."""
    _active.discard(threading.get_ident())
    return {name: counts[name] - before.get(name, 0) for name in FIELDS}


def install() -> None:
    """Listen to opens and listings, and wrap `os.stat` and Pillow's methods once it is imported."""
    if "audit" not in _installed:
        _installed.add("audit")
        sys.addaudithook(_audit)
        for name in ("stat", "lstat", "access"):
            setattr(os, name, _counted(getattr(os, name)))
    if "PIL" not in _installed:
        _installed.add("PIL")
        after_import({"PIL.ImageFile": _watch_pictures})  # Pillow imports it when it opens the first picture


def _watch_pictures(files: Any) -> None:
    picture = files.Image.Image
    files.ImageFile.load = _timed(_counted_load(files.ImageFile.load))
    for name in ("convert", "resize"):
        setattr(picture, name, _timed(getattr(picture, name)))
    picture.crop = _measured_crop(picture.crop)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _active or event not in ("open", "os.listdir", "os.scandir", "http.client.send"):
        return
    if event == "http.client.send":  # of any thread: a fetch may have several requests in flight
        counts["requests"] += _is_head(arguments[1])
        return
    if threading.get_ident() in _active and _is_data(arguments[0]):
        counts["opens" if event == "open" else "listings"] += 1


def _is_head(data: object) -> bool:
    """Whether these bytes begin a request: its body follows on its own."""
    return isinstance(data, (bytes, bytearray)) and b" HTTP/1." in data.partition(b"\r\n")[0]


def unseen_clients() -> list[str]:
    """Return the clients of servers that this process has imported and whose requests are not counted."""
    return [name for name in UNSEEN if name in sys.modules]


def _is_data(path: object) -> bool:
    return path is None or (isinstance(path, (str, bytes)) and not os.fsdecode(path).startswith(IGNORED))


def _counted(function: Callable[..., Any]) -> Callable[..., Any]:
    def counted(path: Any, *args: Any, **kwargs: Any) -> Any:
        if not _active or threading.get_ident() not in _active:
            return function(path, *args, **kwargs)
        counts["stats"] += 1
        try:
            result = function(path, *args, **kwargs)
        except OSError:
            counts["failed"] += 1
            raise
        counts["failed"] += result is False
        return result

    counted.__name__ = function.__name__
    counted.__doc__ = function.__doc__
    return counted


def _timed(method: Callable[..., Any]) -> Callable[..., Any]:
    """Time what is done with all pixels of a picture; the outermost call counts."""

    @functools.wraps(method)
    def timed(image: Any, *args: Any, **kwargs: Any) -> Any:
        if threading.get_ident() not in _active or _inside:
            return method(image, *args, **kwargs)
        _inside.append(True)
        begin = time.perf_counter()
        try:
            return method(image, *args, **kwargs)
        finally:
            _inside.pop()
            counts["decode_seconds"] += time.perf_counter() - begin

    return timed


def _counted_load(load: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(load)
    def counted(image: Any, *args: Any, **kwargs: Any) -> Any:
        encoded = bool(getattr(image, "tile", None)) and threading.get_ident() in _active
        begin = time.perf_counter()
        result = load(image, *args, **kwargs)
        if encoded:
            counts["load_seconds"] += time.perf_counter() - begin
            counts["decodes"] += 1
            counts["decoded"] += image.size[0] * image.size[1]
        return result

    return counted


def _measured_crop(crop: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(crop)
    def measured(image: Any, *args: Any, **kwargs: Any) -> Any:
        result = crop(image, *args, **kwargs)
        if threading.get_ident() in _active:
            counts["cropped"] += result.size[0] * result.size[1]
        return result

    return measured
