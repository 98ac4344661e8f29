"""What a process has read and written so far, as Linux counts it."""

from pathlib import Path


def io_counters() -> dict[str, int] | None:
    """Return the counters of `/proc/self/io` by name; None where the system does not tell.

    `rchar` and `wchar` are the bytes that read and write calls of this process passed, from the page cache
    or not, `syscr` and `syscw` their calls; `read_bytes` and `write_bytes` are those that reached a disk.
    Reading the counters is itself a read call.
    """
    try:
        lines = Path("/proc/self/io").read_text().splitlines()
    except OSError:
        return None
    return {name: int(number) for name, number in (line.split(": ") for line in lines)}
