"""A scripted GPU for a script that says `cuda`: its tensors lie in host memory, and record who waits."""

import functools
import sys
from collections.abc import Callable
from typing import Any

import torch

from course_utils.checks.your_training._mending.log import Log
from course_utils.fakes import FakeCuda, GpuEngine

RANDOM = ["rand", "randint", "randn", "randperm"]
FACTORIES = ["arange", "as_tensor", "empty", "full", "ones", "tensor", "zeros", *RANDOM]
NOTHING = ["empty_cache", "manual_seed", "manual_seed_all", "reset_peak_memory_stats", "set_device"]
NUMBERS = ["__bool__", "__float__", "__index__", "__int__"]
WAITS = [*NUMBERS, "__array__", "cpu", "item", "nonzero", "numpy", "tolist"]


class OnDevice(torch.Tensor):
    """A tensor on the scripted device."""

    recorded_in: Log
    is_cuda = True

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The scripted device."""
        return torch.device("cuda", 0)

    def record_stream(self, stream: object) -> None:
        """Do nothing: nothing is freed."""

    def __repr__(self, **_: object) -> str:  # type: ignore[override]
        return repr(_waited(self, "print"))

    def __format__(self, how: str) -> str:
        plain = _waited(self, "print")
        return format(plain.item() if plain.ndim == 0 else plain, how)

    def __reduce_ex__(self, protocol: Any) -> Any:  # noqa: ANN401 - as the original
        return plain(self).__reduce_ex__(protocol)  # type: ignore[no-untyped-call]


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor as one of host memory; nothing is recorded."""
    with torch._C.DisableTorchFunctionSubclass():
        return tensor.as_subclass(torch.Tensor)


def _waited(tensor: torch.Tensor, how: str) -> torch.Tensor:
    OnDevice.recorded_in.add("wait", how)
    return plain(tensor)


def _waiting(name: str) -> Callable[..., Any]:
    original = getattr(torch.Tensor, name)

    def wait(self: OnDevice, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - as the original
        return original(_waited(self, name), *arguments, **options)

    return wait


class _Streams(GpuEngine):
    """Streams that record who waits for them; their work is done at once."""

    def synchronize_stream(self, stream: int) -> None:
        OnDevice.recorded_in.add("wait", "synchronize")

    def synchronize(self) -> None:
        self.synchronize_stream(0)


def install(log: Log) -> None:
    """Let this process have the scripted device, and no other."""
    OnDevice.recorded_in = log
    for name in WAITS:
        setattr(OnDevice, name, _waiting(name))
    _patch_tensors()
    _patch_torch()


def _patch_tensors() -> None:
    to: Any = torch.Tensor.to
    pin = torch.Tensor.clone

    def move(self: torch.Tensor, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        there = isinstance(self, OnDevice)
        targets = [one for one in (*arguments, *options.values()) if isinstance(one, str | torch.device)]
        targets += [torch.device("cuda") for one in arguments if isinstance(one, OnDevice)]
        target = torch.device(targets[0]).type if targets else ""
        kept = [one for one in arguments if isinstance(one, torch.dtype)]
        if not targets or (target == "cpu" and not there):
            return to(self, *arguments, **options)
        if there and target == "cpu":
            return to(_waited(self, "to"), *kept)
        if not there:
            non_blocking = bool(options.get("non_blocking", arguments[1:2] == (True,)))
            _log_copy(self, non_blocking)
        return to(plain(self), options.get("dtype", kept[0] if kept else self.dtype)).as_subclass(OnDevice)

    def pin_memory(self: torch.Tensor, *_: object) -> torch.Tensor:
        pinned = pin(self)
        mark_pinned(pinned)
        return pinned

    def cuda(self: torch.Tensor, *_: object, non_blocking: bool = False) -> Any:  # noqa: ANN401
        return move(self, "cuda", non_blocking=non_blocking)

    methods = {"to": move, "cuda": cuda, "pin_memory": pin_memory, "is_pinned": is_pinned}
    for name, method in methods.items():
        setattr(torch.Tensor, name, method)


def mark_pinned(tensor: torch.Tensor) -> None:
    """Say that a tensor lies in page-locked memory; its views do too."""
    tensor.untyped_storage().pinned = True  # type: ignore[attr-defined]


def is_pinned(tensor: torch.Tensor, *_: object) -> bool:
    """Return whether a tensor lies in page-locked memory."""
    return getattr(tensor.untyped_storage(), "pinned", False)


def _log_copy(tensor: torch.Tensor, non_blocking: bool) -> None:
    waits = not (non_blocking and is_pinned(tensor))
    OnDevice.recorded_in.add("copy", [tensor.nbytes, int(waits), len(tensor) if tensor.ndim else 1])


def _patch_torch() -> None:
    for name in FACTORIES:
        setattr(torch, name, _made_there(getattr(torch, name)))
    load, module, fake = torch.load, torch.nn.Module.to, FakeCuda(engine=_Streams(strict=False))

    def move_module(self: torch.nn.Module, *arguments: Any, **options: Any) -> torch.nn.Module:  # noqa: ANN401
        kept = [one for one in arguments if not isinstance(one, str | torch.device | bool)]
        options = {name: value for name, value in options.items() if name == "dtype"}
        return module(self, *kept, **options) if kept or options else self

    torch.nn.Module.to = move_module  # type: ignore[method-assign,assignment]
    torch.nn.Module.cuda = lambda self, *_: self  # type: ignore[method-assign]
    torch.load = lambda file, map_location=None, **options: load(file, map_location="cpu", **options)
    for name in ("Stream", "Event", "current_stream", "default_stream", "stream", "synchronize"):
        setattr(torch.cuda, name, getattr(fake, name))
    for name in NOTHING:
        setattr(torch.cuda, name, lambda *_: None)
    torch.cuda.is_available = _is_available
    torch.cuda.device_count = lambda: 1
    torch.cuda.current_device = lambda: 0


def _is_available() -> bool:
    """Say yes to the script, and no to torch, which would ask the driver."""
    return not str(sys._getframe(1).f_globals.get("__name__")).startswith("torch.")


def _made_there(factory: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(factory)
    def make(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - as the original
        device, pinned = options.get("device"), options.pop("pin_memory", False)
        if device is not None and torch.device(device).type == "cuda":
            return factory(*arguments, **{**options, "device": "cpu"}).as_subclass(OnDevice)
        made = factory(*arguments, **options)
        if pinned:
            mark_pinned(made)
        return made

    return make
