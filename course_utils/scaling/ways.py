"""Ways of reading a data set, or an environment, on many nodes, and what each costs in the model."""

from collections.abc import Mapping
from dataclasses import dataclass

from course_utils.scaling.parallel_fs import ParallelFilesystem
from course_utils.storage import FIGURES, FileOps

__all__ = ["StagingCost", "Way", "reading_ways", "start_ways"]

COPY_BYTES = 4 << 20  # of one read while a large file is copied
_FILES = "copy of the package torch, files"
# With the bytes of files of 138 kB on average, so that many small files are counted too slow, not too fast.
CREATE_S = FIGURES["copy of the package torch to NVMe"].value / FIGURES[_FILES].value
WRITE_BYTES_S = 1e6 * FIGURES["sequential write, NVMe"].value


@dataclass(frozen=True)
class StagingCost:
    """What one node asks for while it gets a copy of its own.

    Args:
        shared: Operations on the shared file system.
        creates: Files created on the node.
    """

    shared: FileOps
    creates: int = 1

    @classmethod
    def one_file(cls, nbytes: int) -> "StagingCost":
        """Return the cost of copying one large file."""
        return cls(FileOps(opens=1, stats=1, reads=-(-nbytes // COPY_BYTES), nbytes=nbytes))

    @property
    def write_seconds(self) -> float:
        """Seconds to write the copy to the disk of the node."""
        return max(self.creates * CREATE_S, self.shared.nbytes / WRITE_BYTES_S)


@dataclass(frozen=True)
class Way:
    """A way of reading.

    Args:
        name: For tables and plots.
        reads: Operations of one pass over the data, or of one process that starts.
        staging: What a node's own copy costs; None to read from the shared file system.
        broadcast: One node alone stages, and sends its copy to the others.
    """

    name: str
    reads: FileOps
    staging: StagingCost | None = None
    broadcast: bool = False

    def stage_seconds(self, filesystem: ParallelFilesystem, nodes: int) -> float:
        """Return the seconds until every node has its copy; 0 without staging."""
        if self.staging is None:
            return 0.0
        readers = 1 if self.broadcast else nodes
        read = filesystem.seconds(self.staging.shared * readers, readers)
        sent = filesystem.broadcast_seconds(self.staging.shared.nbytes, nodes) if self.broadcast else 0.0
        return max(read, self.staging.write_seconds) + sent

    def epoch_seconds(self, filesystem: ParallelFilesystem, nodes: int, readers: int = 1) -> float:
        """Return the seconds in which all nodes together read everything once.

        Args:
            filesystem: The shared file system, and the disks of the nodes.
            nodes: Number of nodes.
            readers: Processes that read, on each node.
        """
        return self._read_seconds(filesystem, self.reads, nodes, readers)

    def start_seconds(self, filesystem: ParallelFilesystem, nodes: int, processes: int = 1) -> float:
        """Return the seconds until every process of every node has read everything, staging included."""
        work = self.reads * (nodes * processes)
        return self.stage_seconds(filesystem, nodes) + self._read_seconds(filesystem, work, nodes, processes)

    def total_seconds(
        self, filesystem: ParallelFilesystem, nodes: int, epochs: int, readers: int = 1
    ) -> float:
        """Return the seconds of staging and of `epochs` epochs."""
        epoch = self.epoch_seconds(filesystem, nodes, readers)
        return self.stage_seconds(filesystem, nodes) + epochs * epoch

    def _read_seconds(self, filesystem: ParallelFilesystem, work: FileOps, nodes: int, readers: int) -> float:
        seconds = filesystem.seconds if self.staging is None else filesystem.node_seconds
        return seconds(work, nodes, readers)


def reading_ways(
    files: FileOps,
    pack: FileOps,
    staging: Mapping[str, StagingCost] | None = None,
    mounted: FileOps | None = None,
) -> tuple[Way, ...]:
    """Return the ways to compare for a data set.

    Args:
        files: Operations of one epoch over single files.
        pack: Operations of one epoch over the packed file.
        staging: Ways to get a copy, by name; by default copying the packed file. A copy of more than one file
            is read as single files.
        mounted: Operations of one epoch over single files in a mounted squashfs file; None leaves it out.
    """
    one_file = StagingCost.one_file(pack.nbytes)
    copies = {"the packed file": one_file} if staging is None else staging
    return (
        Way("everybody reads files", files),
        Way("everybody reads a pack", pack),
        *([] if mounted is None else [Way("everybody mounts a squashfs file", mounted)]),
        Way("one reads and broadcasts", pack, one_file, broadcast=True),
        *(
            Way(f"staged once per node: {name}", files if cost.creates > 1 else pack, cost)
            for name, cost in copies.items()
        ),
    )


def start_ways(environment: FileOps, files: int, nbytes: int) -> tuple[Way, ...]:
    """Return the ways to compare for the start of a job.

    Args:
        environment: Operations of one process that imports its packages, such as `IMPORT_TORCH`.
        files: Files of the environment.
        nbytes: Their bytes.
    """
    image = StagingCost.one_file(nbytes)
    copies = StagingCost(FileOps(opens=files, stats=2 * files, reads=2 * files, nbytes=nbytes), creates=files)
    return (
        Way("environment on the shared file system", environment),
        Way("its files copied to each node", environment, copies),
        Way("one image, copied to each node", environment, image),
        Way("one image, broadcast", environment, image, broadcast=True),
    )
