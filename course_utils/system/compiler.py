"""Find out whether `torch.compile` can work here: for a CPU it generates C++ and needs a compiler."""

import os
import shutil
import sys
import sysconfig
from pathlib import Path

import torch


def can_compile(device: torch.device | str) -> bool:
    """Return whether this machine has what `torch.compile` needs for a device.

    Args:
        device: Where the compiled function will run.

    Returns:
        True for a GPU, whose compiler comes with PyTorch; for a CPU, whether there are a C++ compiler (`CXX`,
        or the system's default) and Python's headers.
    """
    if torch.device(device).type == "cuda":
        return True
    compiler = os.environ.get("CXX", "clang++" if sys.platform == "darwin" else "g++")
    return bool(shutil.which(compiler)) and Path(sysconfig.get_path("include"), "Python.h").exists()
