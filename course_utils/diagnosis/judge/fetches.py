"""Where the time of a loader's fetches goes, what they ask of files and pictures, and what is padding."""

from typing import NamedTuple

from course_utils.diagnosis.judge.evidence import Loader, median, total
from course_utils.diagnosis.judge.finding import Finding
from course_utils.diagnosis.judge.stages import Stages
from course_utils.diagnosis.judge.steps import measured

MUCH, FEW_BATCHES, FEW_STEPS = 0.25, 3, 8  # padding that is worth a change; what it takes to judge


class Fetch(NamedTuple):
    """Means of a loader's fetches; times are shares of a fetch, counts are per sample."""

    wall: float
    cpu: float
    delay: float
    blocked: float
    others: float
    sample: float
    collate: float
    decode: float
    unpacked: float  # of the decoding: from file to pixels, conversions and resizes not included
    opens: float
    looked: float
    failed: float
    listings: float
    requests: float
    read: float
    used: float
    decodes: float
    ratio: float
    density: float  # bytes that are read for a decoded pixel
    draws: bool
    asked: float
    nbytes: float
    float_bytes: float
    parts: float
    pickled: float
    busy_threads: float
    default_collate: bool

    def share(self, part: float) -> float:
        """A part of the time that a fetch did not wait for a core."""
        return part / max(self.cpu + self.blocked, 1e-9)

    @property
    def in_memory(self) -> bool:
        """Whether samples come from memory as they are."""
        return self.opens < 0.05 and self.requests < 0.05 and self.read < 256 and self.decodes < 0.05


def fetch_of(loader: Loader) -> Fetch:
    """Put the fetches of a loader together."""
    fetches, batches = loader.fetches(), loader.of("batch")
    wall, samples = max(total(fetches, "wall"), 1e-9), max(total(fetches, "samples"), 1)
    shares = {name: total(fetches, name) / wall for name in ("cpu", "delay", "others")}
    counts = {
        name: total(fetches, name) / samples
        for name in ("opens", "failed", "listings", "requests", "read", "decodes")
    }
    usual = {
        name: median(batch[name] for batch in batches) for name in ("asked", "nbytes", "float_bytes", "parts")
    }
    pickled = median(batch["array_bytes"] for batch in batches)
    pixels = max(median(batch["pixels"] for batch in batches), total(fetches, "cropped") / samples)
    return Fetch(
        **shares, **counts, **usual, wall=wall / max(len(fetches), 1),
        blocked=max(1 - shares["cpu"] - shares["delay"], 0.0),
        sample=median(fetch["sample_seconds"] / max(fetch["samples"], 1) for fetch in fetches),
        collate=sum(fetch["collate"][0] for fetch in fetches) / wall,
        decode=total(fetches, "decode_seconds") / wall, unpacked=total(fetches, "load_seconds") / wall,
        looked=total(fetches, "stats") / samples, pickled=pickled,
        used=(usual["nbytes"] + pickled) / (usual["asked"] or 1),
        ratio=total(fetches, "decoded") / samples / pixels if pixels else 0.0,
        density=total(fetches, "read") / max(total(fetches, "decoded"), 1),
        draws=_draws(loader), busy_threads=_busy_threads(loader),
        default_collate=any(record.get("default_collate") for record in loader.of("process")),
    )  # fmt: skip


def _draws(loader: Loader) -> bool:
    """Whether a fetch used a generator of random numbers."""
    before: dict[tuple[str, int, int], dict[str, int]] = {}
    for record in loader.of("states"):
        key = (record["epoch"], record["worker"], record["fetch"])
        if record["when"] == "before":
            before[key] = record["hashes"]
        elif key in before and before[key] != record["hashes"]:
            return True
    return False


def _busy_threads(loader: Loader) -> float:
    """Median number of threads of a worker that compute."""
    latest = {record["pid"]: record["threads"] for record in loader.of("process")}
    counts = []
    for threads in latest.values():
        most = max(threads.values(), default=0.0)
        counts.append(sum(seconds >= max(most / 4, 0.05) for seconds in threads.values()))
    return median(counts)


class Tokens(NamedTuple):
    """Tokens of a loader's batches.

    Attributes:
        places: Of the batches that were looked at, padding included; 0 where batches hold no tokens.
        share: Of the places that are no padding.
        second: Useful tokens a second of a usual step.
    """

    places: float
    share: float
    second: float


def rate(loader: Loader) -> Tokens:
    """Put the batches of a loader together."""
    batches = [batch for batch in loader.of("batch") if batch["places"]]
    places, useful = total(batches, "places"), total(batches, "useful")
    steps = measured(loader)
    seconds = (steps.wait + steps.compute) * len(batches)
    return Tokens(places, useful / places if places else 0.0, useful / seconds if seconds else 0.0)


def padding(loader: Loader) -> list[Finding]:
    """Say where much of what is computed is padding, whether or not batches are waited for."""
    tokens = rate(loader)
    seen = sum(batch["places"] > 0 for batch in loader.of("batch"))
    if seen < FEW_BATCHES or measured(loader).number < FEW_STEPS or 1 - tokens.share < MUCH:
        return []
    text = (
        f"{1 - tokens.share:.0%} of the places in {seen} batches are padding; "
        f"{tokens.second:,.0f} useful tokens a second"
    )

    def change(stage: Stages) -> Stages:
        """Compute the useful tokens alone: at best, the time shrinks as the places do."""
        less = {name: getattr(stage, name) * tokens.share for name in ("compute", "compute_cpu")}
        return stage._replace(**less)

    return [Finding("padding", [text], change, weight=1 - tokens.share)]
