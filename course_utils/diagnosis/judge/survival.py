"""Rules about runs that may die: shared memory, memory of workers, descriptors, CUDA in workers."""

from collections import defaultdict

from course_utils.diagnosis.facts import loaders as facts
from course_utils.diagnosis.judge.evidence import Loader, median
from course_utils.diagnosis.judge.finding import Finding

MIB = 1 << 20
GROWTH = 24 * MIB


def findings(loaders: list[Loader]) -> list[Finding]:
    """Apply all rules of this module to all loaders."""
    rules = (shared_memory, copied_on_write, descriptors, cuda)
    judged = [rule(loader) for loader in loaders for rule in rules if loader.workers]
    return [finding for finding in judged if finding]


def shared_memory(loader: Loader) -> Finding | None:
    """The batches in flight against the size of /dev/shm."""
    size, _ = loader.main.get("shm", (0, 0))
    nbytes = median(batch["nbytes"] for batch in loader.of("batch"))
    need = loader.workers * loader.settings["prefetch"] * nbytes
    if not size or need < size / 2:
        return None
    text = f"{loader.workers} workers × {loader.settings['prefetch']} batches × {nbytes / MIB:.0f} MiB"
    return Finding(
        "shared_memory_too_small", [f"{text} of {size / MIB:.0f} MiB in /dev/shm"], weight=need / size
    )


def copied_on_write(loader: Loader) -> Finding | None:
    """Private memory that grows as much as shared memory shrinks."""
    objects = loader.settings["objects"]
    if loader.settings["start"] != "fork" or objects < facts.MANY_OBJECTS:
        return None
    by_worker: dict[int, list[dict[str, int]]] = defaultdict(list)
    for record in loader.of("process"):
        if record["memory"]:
            by_worker[record["pid"]].append(record["memory"])
    grown = []
    for states in by_worker.values():
        private = states[-1]["Private_Dirty:"] - states[0]["Private_Dirty:"]
        shared = states[0]["Shared_Dirty:"] - states[-1]["Shared_Dirty:"]
        grown.append(private if shared > private / 2 else 0)
    if not grown or median(grown) < GROWTH:
        return None
    text = f"private memory of a worker grew by {median(grown) / MIB:.0f} MiB, and its shared memory shrank"
    held = f"the dataset holds about {objects:,} Python objects"
    return Finding("memory_copied_on_write", [text, held], weight=median(grown) / GROWTH)


def descriptors(loader: Loader) -> Finding | None:
    """Descriptors of the main process that grow with each batch."""
    _, limit = loader.main.get("descriptors", (0, 0))
    counts = [count for epoch in loader.epochs for count in epoch["descriptors"]]
    if len(counts) < 4 or limit <= 0:
        return None
    growth = max(counts) - min(counts)
    a_batch = growth / max(8 * (len(counts) - 1), 1)
    if growth < 64 or a_batch < 0.5 or (max(counts) < limit / 2 and max(counts) + 20 * growth < limit):
        return None
    text = f"{min(counts)} → {max(counts)} descriptors, {a_batch:.1f} a batch, of {limit}"
    return Finding("descriptors_run_out", [text], weight=max(counts) / limit)


def cuda(loader: Loader) -> Finding | None:
    """CUDA that a worker initialised or wanted to."""
    refused = [record for record in loader.of("error") if "Cannot re-initialize CUDA" in record["text"]]
    used = [record for record in loader.of("process") if record["cuda"] and record["worker"] >= 0]
    if refused:
        return Finding("cuda_in_workers", [f"a worker failed: {refused[0]['text'][:90]}"])
    if used and loader.settings["start"] != "fork":
        return Finding(
            "cuda_in_workers", [f"{len({record['pid'] for record in used})} workers initialised CUDA"]
        )
    return None
