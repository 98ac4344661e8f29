"""Find out whether `torch.compile` can work here: it generates code and needs a compiler to build it."""

import os
import shutil
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import torch


def can_compile(device: torch.device | str) -> bool:
    """Return whether this machine has what `torch.compile` needs for a device.

    Args:
        device: Where the compiled function will run.

    Returns:
        Whether there are Python's headers and a compiler. A GPU needs a C compiler (`CC`, gcc or clang), with
        which Triton builds its launchers, and Triton itself; a CPU needs a C++ compiler (`CXX`, or the
        system's default).
    """
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return False
    if torch.device(device).type == "cuda":
        return find_spec("triton") is not None and _has_compiler("CC", "gcc", "clang")
    return _has_compiler("CXX", "clang++" if sys.platform == "darwin" else "g++")


def _has_compiler(variable: str, *defaults: str) -> bool:
    """Return whether the compiler that the environment variable names, or else a default one, exists."""
    chosen = os.environ.get(variable)
    return any(shutil.which(name) for name in ([chosen] if chosen else defaults))
