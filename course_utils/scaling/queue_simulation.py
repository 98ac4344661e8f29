"""A discrete-event simulation of readers, metadata servers and data servers with queues.

It checks the closed formula of `ParallelFilesystem`, which has no queues. Every request visits its servers
in turn and waits there in the order of arrival; the time of a service is random (exponential). What is left
of the latency of an idle file system is spent in the network.
"""

import heapq
import random
from typing import NamedTuple

from course_utils.scaling.parallel_fs import GB, ParallelFilesystem
from course_utils.storage import FileOps

__all__ = ["simulate_requests"]

METADATA_THREADS = 32
DATA_SERVERS = 32


class _Station:
    """Servers with one queue in front of them."""

    def __init__(self, servers: int = 1) -> None:
        self._free_at = [0.0] * servers

    def serve(self, now: float, seconds: float) -> float:
        """Return when a request that arrives now is done."""
        done = max(now, self._free_at[0]) + seconds
        heapq.heapreplace(self._free_at, done)
        return done


class _Network(_Station):
    """Every request passes at once."""

    def serve(self, now: float, seconds: float) -> float:
        return now + seconds


class _Visit(NamedTuple):
    station: _Station
    seconds: float  # mean


class _Cluster:
    """The stations of one simulation, and which of them a request visits."""

    def __init__(self, filesystem: ParallelFilesystem, nodes: int, read_bytes: float) -> None:
        self._filesystem, self._read_bytes = filesystem, read_bytes
        self._free = 1 - filesystem.client.load
        self._metadata = _Station(METADATA_THREADS)
        self._data = [_Station() for _ in range(DATA_SERVERS)]
        self._links = [_Station() for _ in range(nodes)]
        self._network = _Network()

    def visits(self, kind: str, node: int, rng: random.Random) -> list[_Visit]:
        """Return the stations of a request in order, the network last."""
        system, client, free = self._filesystem, self._filesystem.client, self._free
        if kind in ("read", "size"):
            nbytes, latency_ms = (
                (self._read_bytes, client.read_ms) if kind == "read" else (0.0, client.size_ms)
            )
            per_server = 1 / system.reads_per_s + nbytes / (system.servers_gb_s * GB)
            served = _Visit(rng.choice(self._data), DATA_SERVERS * per_server / free)
            sent = _Visit(self._links[node], nbytes / (system.link_gb_s * GB))
            idle = (latency_ms / 1e3 + nbytes / (client.bandwidth_mb_s * 1e6)) / free
            return [served, sent, self._rest(idle, served, sent)]
        rate, latency_ms = (
            (system.opens_per_s, client.open_ms) if kind == "open" else (system.lookups_per_s, client.stat_ms)
        )
        served = _Visit(self._metadata, METADATA_THREADS / rate / free)
        return [served, self._rest(latency_ms / 1e3 / free, served)]

    def _rest(self, idle_seconds: float, *visits: _Visit) -> _Visit:
        left = idle_seconds - sum(visit.seconds for visit in visits)
        if left < 0:
            raise ValueError(f"an idle server needs longer than a whole request, {idle_seconds:.2g} s")
        return _Visit(self._network, left)


def simulate_requests(
    filesystem: ParallelFilesystem, per_reader: FileOps, nodes: int = 1, readers: int = 1, seed: int = 0
) -> float:
    """Return the simulated seconds until all readers are done.

    Args:
        filesystem: The file system.
        per_reader: Operations of each reader, in random order; bytes are shared evenly by the reads.
        nodes: Number of nodes.
        readers: Processes that read, on each node.
        seed: Of the order of requests, the times of services and the choice of data servers.

    Raises:
        ValueError: The rate of the servers is so low that one service takes longer than a whole request.
    """
    rng = random.Random(seed)
    kinds = ["open"] * (per_reader.opens + per_reader.listings)
    kinds += ["lookup"] * per_reader.lookups + ["size"] * per_reader.sizes + ["read"] * per_reader.reads
    cluster = _Cluster(filesystem, nodes, per_reader.nbytes / max(per_reader.reads, 1))
    queues = [rng.sample(kinds, len(kinds)) for _ in range(nodes * readers)]
    visits: list[list[_Visit]] = [[] for _ in queues]  # of each reader's request, the next one last
    events = [(0.0, reader) for reader in range(len(queues))]
    now = 0.0
    while events:
        now, reader = heapq.heappop(events)
        if not visits[reader]:
            if not queues[reader]:
                continue
            visits[reader] = cluster.visits(queues[reader].pop(), reader % nodes, rng)[::-1]
        station, mean = visits[reader].pop()
        seconds = mean if isinstance(station, _Network) else rng.expovariate(1 / mean) if mean else 0.0
        heapq.heappush(events, (station.serve(now, seconds), reader))
    return now
