"""Say on which machine a record is made, without names of hosts, people or folders."""

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from course_utils.record.schema import Machine
from course_utils.scratch import storage_of
from course_utils.system import usable_cores

LIBRARIES = ("torch", "torchvision", "torchcodec", "numpy", "pillow")


def this_machine(folder: Path, gpu: str, cache: str) -> Machine:
    """Return this machine.

    Args:
        folder: Of the data set, whose file system is measured.
        gpu: The name of the GPU; empty without one.
        cache: What "first" means there.
    """
    return Machine(
        cpu=_processor(),
        cores=usable_cores(),
        gpu=gpu,
        kernel=f"{platform.system()} {platform.release()}",
        file_system=storage_of(folder).file_system or "unknown",
        cache=cache[:200],
    )


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that are measured, too."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine() or "unknown"
