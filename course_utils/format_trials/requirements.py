"""What a project requires of a packed format."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Requirements:
    """What a project requires; by default little, so that many formats will do.

    Args:
        samples: Number of samples, such as images.
        access: "random" if any sample may be read next; "stream" if all are read from the start to the end.
        place: Where the data lies: on a "local" disk, on a "shared" file system such as Lustre, or in an
            "object store" that gives out objects or ranges of their bytes.
        file_quota: How many files the project may have. A packed data set may be split into a hundred shards.
        worker_memory: Bytes that an opened reader may take in each worker.
        opened_before_fork: Whether the reader is opened once, and the workers are forked from that process.
        append: Whether samples are added later to a file that is complete, without writing all of it anew.
        notice_damage: Whether reading a sample of which a byte was flipped must raise an error.
        survive_kill: Whether samples that were written must be readable when their writer was killed.
        only_numpy: Whether readers may use nothing but NumPy, the standard library and this course.
        read_by: A program of others that must read the file too; empty if there is none.
        sample_bytes: Bytes of a sample.
        latency: Seconds that each request takes, whatever its size.
        bandwidth: Bytes that arrive in a second.
    """

    samples: int = 100_000
    access: str = "stream"
    place: str = "local"
    file_quota: int = 10_000_000
    worker_memory: int = 2**36
    opened_before_fork: bool = False
    append: bool = False
    notice_damage: bool = False
    survive_kill: bool = False
    only_numpy: bool = False
    read_by: str = ""
    sample_bytes: int = 20_000
    latency: float = 1e-5
    bandwidth: float = 1e9
