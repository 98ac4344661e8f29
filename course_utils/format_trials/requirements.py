"""What a project requires of a packed format."""

from dataclasses import dataclass

# By access and format: requests for a sample, and bytes that arrive for each of its bytes. Rounded from what
# lesson 04 measures with a kernel that is advised; a page fault is a request. For streams, reads of 50
# samples at a time are assumed.
READ_COSTS: dict[str, dict[str, tuple[float, float]]] = {
    "random": {
        "SingleFiles": (4, 1.1),
        "StoredZip": (7, 1.3),
        "IndexedZip": (1, 1.2),
        "FlatFile": (1, 1.2),
        "FlatMap": (1.2, 1.2),
        "RaggedHdf5": (2, 2.4),
        "FlatHdf5": (1, 3.2),
        "Lmdb": (1, 1.1),
        "Parquet": (2, 49),
        "ArrowMap": (1.4, 19),
        "TfRecord": (1, 1.2),
        "ArrayRecord": (1, 1.1),
        "Squashfs": (4, 1.1),
    },
    "stream": {
        "SingleFiles": (4, 1.0),
        "StoredZip": (0.02, 1.01),
        "IndexedZip": (0.02, 1.01),
        "Tar": (0.02, 1.09),
        "FlatFile": (0.02, 1.0),
        "FlatMap": (0.3, 1.0),
        "RaggedHdf5": (2, 1.05),
        "FlatHdf5": (0.02, 1.0),
        "Lmdb": (0.3, 1.1),
        "Parquet": (0.04, 1.0),
        "ArrowMap": (0.3, 1.0),
        "TfRecord": (0.02, 1.0),
        "ArrayRecord": (0.02, 1.01),
        "Squashfs": (4, 1.0),
    },
}


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
