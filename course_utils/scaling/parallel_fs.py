"""A MODEL of a parallel file system under many nodes: a closed formula for the seconds of known operations.

Each resource alone would need some seconds for the work; as all of them are used at the same time, the
slowest decides (the asymptotic bound of operational analysis: Denning and Buzen, The Operational Analysis
of Queueing Network Models, ACM Computing Surveys 10(3), 1978):

- *waiting*: each reader waits for its own requests, one after the other, as `SharedFilesystem` says;
- *metadata servers*: opens and look-ups of all readers together, at most so many per second;
- *data servers*: reads, sizes of opened files and bytes of all readers together;
- *network link*: the bytes of one node.

`course_utils.scaling.simulate_requests` simulates the same requests with servers and queues. The formula
leaves out queues, so it is a lower bound; `tests/scaling` states how far the simulation is above it.

Where the numbers come from: `FIGURES`. Not all were published: no rate of opens was found, so opens are
taken to be as frequent as removals, which also take a lock on the metadata server. `assumptions` says which
are assumed.
"""

from dataclasses import dataclass

from course_utils.scaling.published import LUSTRE, NVME
from course_utils.storage import FIGURES, FileOps, SharedFilesystem

__all__ = ["ParallelFilesystem"]

GB = 1e9


@dataclass(frozen=True)
class ParallelFilesystem:
    """What one reader sees of a shared file system, and what all its servers can do.

    Args:
        client: The file system as one reader sees it; its `load` also takes that part of the servers.
        node: The disk of a node, for data that was staged.
        opens_per_s: Opens (and listings) per second of the metadata servers.
        lookups_per_s: Look-ups by path per second of the metadata servers.
        reads_per_s: Reads (and requests for the size of an open file) per second of all data servers.
        servers_gb_s: Gigabytes (10⁹ bytes) per second of all data servers.
        link_gb_s: Gigabytes per second of the network link of one node.

    Raises:
        ValueError: A rate is not positive.
    """

    client: SharedFilesystem = LUSTRE
    node: SharedFilesystem = NVME
    opens_per_s: float = FIGURES["opens, metadata server"].value
    lookups_per_s: float = FIGURES["look-ups, metadata server"].value
    reads_per_s: float = FIGURES["random reads, flash servers"].value
    servers_gb_s: float = FIGURES["bandwidth of 32 storage targets"].value
    link_gb_s: float = FIGURES["EDR InfiniBand link"].value

    def __post_init__(self) -> None:
        rates = (self.opens_per_s, self.lookups_per_s, self.reads_per_s, self.servers_gb_s, self.link_gb_s)
        if min(rates) <= 0:
            raise ValueError(f"{self}: rates must be positive")

    @property
    def assumptions(self) -> str:
        """What nobody has published, to be shown beside each result."""
        return f"{self.assumed_rates}, load {self.client.load:.0%}"

    @property
    def assumed_rates(self) -> str:
        """The assumptions without the load."""
        opens = " (as frequent as removals)" * (self.opens_per_s == FIGURES["opens, metadata server"].value)
        return f"assumed: {self.opens_per_s:,.0f} opens/s{opens}, {self.client.read_ms:g} ms a read or size"

    def limits(self, work: FileOps, nodes: int = 1, readers: int = 1) -> dict[str, float]:
        """Return the seconds that each resource would need alone.

        Args:
            work: The operations of all nodes together, shared evenly by all readers.
            nodes: Number of nodes.
            readers: Processes that read, on each node.
        """
        free = 1 - self.client.load
        metadata = (work.opens + work.listings) / self.opens_per_s + work.lookups / self.lookups_per_s
        data = (work.reads + work.sizes) / self.reads_per_s + work.nbytes / (self.servers_gb_s * GB)
        return {
            "waiting": self.client.seconds(work) / (nodes * readers),
            "metadata servers": metadata / free,
            "data servers": data / free,
            "network link": work.nbytes / nodes / (self.link_gb_s * GB),
        }

    def seconds(self, work: FileOps, nodes: int = 1, readers: int = 1) -> float:
        """Return the seconds until all readers are done; the arguments are those of `limits`."""
        return max(self.limits(work, nodes, readers).values())

    def bottleneck(self, work: FileOps, nodes: int = 1, readers: int = 1) -> str:
        """Return the resource that decides; the arguments are those of `limits`."""
        limits = self.limits(work, nodes, readers)
        return max(limits, key=limits.__getitem__)

    def node_seconds(self, work: FileOps, nodes: int = 1, readers: int = 1) -> float:
        """Return the seconds of the same work on the disks of the nodes, each of which has a copy."""
        transfer = work.nbytes / nodes / (self.node.bandwidth_mb_s * 1e6)
        return max(self.node.seconds(work) / (nodes * readers), transfer)

    def broadcast_seconds(self, nbytes: int, nodes: int) -> float:
        """Return the seconds to send a file from one node to all: in each round, all that have it send it."""
        return (nodes - 1).bit_length() * nbytes / (self.link_gb_s * GB)
