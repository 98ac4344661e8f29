"""Rules about wrong results: they have no threshold of time."""

from collections import defaultdict
from itertools import pairwise
from typing import Any

from course_utils.diagnosis.judge.evidence import GAP, STEPS, WAIT, Loader, median
from course_utils.diagnosis.judge.finding import Finding

FEW = 8  # samples: less can be equal by chance


def findings(loaders: list[Loader]) -> list[Finding]:
    """Apply all rules of this module to all loaders."""
    training = [loader for loader in loaders if loader.training]
    judged = [rule(loader) for loader in training for rule in TRAINING]
    judged += [padded(loader) for loader in loaders if not loader.training and training]
    judged += [rule(loader) for loader in loaders for rule in (shared_handle, slipped)]
    return [finding for finding in judged if finding]


def repeated_numbers(loader: Loader) -> Finding | None:
    """Generators that were used and had the same state in two workers, or in two epochs of one worker."""
    states: dict[str, Any] = defaultdict(lambda: defaultdict(dict))
    for record in loader.of("states"):
        for name, value in record["hashes"].items():
            seen = states[name][(record["epoch"], record["worker"])]
            identity = record["ids"].get(name)
            seen.setdefault("first", value)
            seen.setdefault("ids", set()).add(identity)
            seen["used"] = seen.get("used", False) or value != seen["first"]
    for name, seen in states.items():
        used = {key: value for key, value in seen.items() if value["used"] and len(value["ids"]) == 1}
        if loader.workers == 0 or len(used) < 2:
            continue
        for what, part in (("workers of one epoch", 0), ("epochs of one worker", 1)):
            groups: dict[Any, list[int]] = defaultdict(list)
            for key, value in used.items():
                groups[(key[part], value["first"])].append(value["first"])
            most = max(len(group) for group in groups.values())
            if most > 1:
                return Finding(
                    "repeated_random_numbers", [f"{name}: same state in {most} {what}, and it was used"]
                )
    return None


def order_repeated(loader: Loader) -> Finding | None:
    """Two epochs with the same order, from a sampler that was meant to shuffle."""
    settings = loader.settings
    shuffles = (settings["set_epoch"] and settings["shuffle"] is not False) or settings["sampler"] in (
        "RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler",
    )  # fmt: skip
    orders = [
        epoch["order"] for epoch in loader.epochs if epoch["complete"] and epoch["order"]["count"] > FEW
    ]
    same = [(one, other) for one, other in pairwise(orders) if one["order"] == other["order"]]
    if settings["iterable"] or not shuffles or not same or orders[0]["ascending"]:
        return None
    known = {epoch["sampler_epoch"] for epoch in loader.epochs}
    why = f"the sampler's epoch stayed {known.pop()}" if settings["set_epoch"] and len(known) == 1 else ""
    text = f"{len(same) + 1} of {len(orders)} epochs have the same order of {orders[0]['count']} samples"
    return Finding("epoch_not_set", [text, *([why] if why else [])])


def iterable_repeated(loader: Loader) -> Finding | None:
    """Workers whose sequences of samples, or of a part of them such as labels, are equal."""
    if not loader.settings["iterable"] or loader.workers < 2:
        return None
    sequences: dict[str, dict[int, list[tuple[int, ...]]]] = defaultdict(lambda: defaultdict(list))
    for record in loader.of("sample"):
        sequences[record["epoch"]][record["worker"]].append(tuple(record["digest"]))
    for workers in sequences.values():
        length = min(len(sequence) for sequence in workers.values())
        if len(workers) < 2 or length < FEW:
            continue
        cut = [sequence[:length] for sequence in workers.values()]
        for part in range(len(cut[0][0])):
            columns = [tuple(digest[part] if part < len(digest) else 0 for digest in one) for one in cut]
            if len(set(columns)) < len(columns) and len(set(columns[0])) >= FEW:
                text = f"the first {length} samples of {len(columns)} workers are the same"
                return Finding("iterable_repeated", [text])
    return None


def resumed(loader: Loader) -> Finding | None:
    """Batches at the start that are thrown away at once."""
    rows = [row for row in loader.epochs[0]["rows"] if row[GAP] >= 0]
    skipped = next((i for i, row in enumerate(rows) if row[STEPS]), len(rows))
    later = rows[skipped:]
    if skipped < 5 or len(later) < 5:
        return None
    usual, thrown = median(row[GAP] for row in later), median(row[GAP] for row in rows[:skipped])
    most_between = max(_runs_without_step(later), default=0)
    if thrown > usual / 4 or skipped < 3 * most_between + 3:
        return None
    seconds = sum(row[WAIT] for row in rows[:skipped])
    return Finding(
        "resumed_by_steps", [f"{skipped} batches loaded in {seconds:.1f} s without a step, then training"]
    )


def _runs_without_step(rows: list[list[float]]) -> list[int]:
    runs, run = [], 0
    for row in rows:
        run = 0 if row[STEPS] else run + 1
        runs.append(run)
    return runs


def padded(loader: Loader) -> Finding | None:
    """An evaluation whose samples are not those of its dataset, each once."""
    settings, length = loader.settings, loader.settings["length"]
    whole = [epoch["order"] for epoch in loader.epochs if epoch["complete"]]
    if settings["iterable"] or length <= 0 or not whole or settings["wrapper"] == "accelerate":
        return None
    order = whole[-1]
    if settings["total_size"] > 0 and settings["total_size"] != length:
        more = settings["total_size"] - length
        text = f"{settings['replicas']} ranks see {settings['total_size']} samples of {length}"
        return Finding("evaluation_padded", [f"{text}: {abs(more)} {'twice' if more > 0 else 'never'}"])
    if settings["replicas"] == 1 and order["repeated"] and not settings["replacement"]:
        return Finding("evaluation_padded", [f"{order['repeated']} of {order['count']} samples came twice"])
    size, missing = settings["batch_size"] or 0, order["missing"]
    if settings["replicas"] == 1 and settings["drop_last"] and 0 < missing < max(size, 1):
        return Finding("evaluation_padded", [f"the last {missing} of {length} samples are dropped"])
    return None


def shared_handle(loader: Loader) -> Finding | None:
    """Descriptors from before the fork whose position moved during fetches of two workers."""
    if loader.workers < 1 or loader.settings["start"] != "fork":
        return None
    known: dict[str, set[int]] = defaultdict(set)
    certain = False
    for record in loader.of("start"):
        certain |= any(record["shared"].values())
    for record in loader.of("moved"):
        for descriptor in record["files"]:
            known[str(descriptor)].add(record["worker"])
    by_two = {descriptor: workers for descriptor, workers in known.items() if len(workers) > 1}
    if not by_two:
        return None
    descriptor, workers = next(iter(by_two.items()))
    proof = "the kernel confirms that it is one" if certain else "open since before the fork"
    return Finding("shared_handle", [f"descriptor {descriptor} moved in {len(workers)} workers; {proof}"])


def slipped(loader: Loader) -> Finding | None:
    """Lists that do not match, indices outside, or batches smaller than asked for."""
    lists = loader.settings["lists"]
    if lists:
        return Finding("labels_slipped", lists[:2])
    outside = sum(epoch["order"]["outside"] for epoch in loader.epochs)
    if outside and not loader.settings["iterable"]:
        return Finding("labels_slipped", [f"{outside} indices lie outside of the dataset's length"])
    batches = [batch for batch in loader.of("batch") if batch["asked"] > 1 and batch["lengths"]]
    short = [batch for batch in batches if _is_short(batch)]
    varies = len({max(batch["lengths"]) for batch in short}) > 1 or len(short) < len(batches)
    if short and varies and not loader.settings["iterable"]:
        text = f"{len(short)} of {len(batches)} batches hold fewer samples than were asked for"
        return Finding("labels_slipped", [text])
    return None


def _is_short(batch: dict[str, Any]) -> bool:
    asked, lengths = batch["asked"], batch["lengths"]
    return asked not in lengths and any(asked / 2 <= length < asked for length in lengths)


def buffer_reused(loader: Loader) -> Finding | None:
    """Batches that are alive at the same time in the same memory."""
    aliased = sum(epoch["aliased"] for epoch in loader.epochs)
    rewritten = int(loader.main.get("counters", {}).get("rewritten_pinned", 0))
    overwritten = max((record.get("overwritten", 0) for record in loader.of("process")), default=0)
    if overwritten > 2:
        return Finding(
            "buffer_reused", [f"{overwritten} samples were overwritten by the next one of their batch"]
        )
    if aliased > 2:
        return Finding("buffer_reused", [f"{aliased} times two batches held at once had the same memory"])
    if rewritten > 2:
        return Finding(
            "buffer_reused", [f"{rewritten} pinned buffers were written again before a synchronisation"]
        )
    return None


TRAINING = (repeated_numbers, order_repeated, iterable_repeated, resumed, buffer_reused)
