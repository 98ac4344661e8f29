"""Where and when a benchmark ran: what each of its records states."""

import datetime
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from course_utils.system import usable_cores


def environment(*libraries: str) -> dict:
    """Return date, machine, Python and the versions of those of the libraries that are installed."""
    versions = {name: _version(name) for name in libraries}
    return {
        "made": str(datetime.date.today()),
        "machine": f"{platform.system()}, {_processor()}, {usable_cores()} cores",
        "python": platform.python_version(),
        "versions": {name: found for name, found in versions.items() if found},
    }


def where_and_when(record: dict) -> str:
    """Return the environment of a record as text, without parentheses."""
    versions = [f"{name} {found}" for name, found in record.get("versions", {}).items()]
    machine = record.get("machine", "machine not recorded")
    return ", ".join([record["made"], machine, f"Python {record['python']}", *versions])


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
