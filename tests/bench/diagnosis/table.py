"""The page of what was measured about the diagnosis, from its record."""

from typing import Any

from tests.bench.recording.environment import where_and_when

HEAD = """# How far the diagnosis can be trusted

Measured by `python -m tests.bench.diagnosis` ({where}).

"""
OVERHEAD = """## What it adds to an epoch

A training of 1,000 samples a second with two workers, with and without the diagnosis, in turns, {pairs}
pairs: an epoch takes {wall} times as long, and {cpu} times as much time of the
cores (median, smallest, largest).

"""
PROMISE = """## Whether a predicted gain comes true

Each remedy was applied to a script of the clinic (`tests/diagnosis/clinic`), and both were run in turns.
{kept} of {all} gains lie within a quarter of what was predicted.

| script | cause | predicted | measured | within a quarter |
|---|---|---|---|---|
{rows}

"""
PEERS = """## What other tools say of the same scripts

TraceML {traceml}, torch.profiler of PyTorch {torch} and DALI's `LoaderEvaluator` {dali}, on a CPU. TraceML
gets `trace_step` around the steps, as its manual asks; of the unchanged script it said "{unchanged}" each
time. The profiler's column has the two largest entries of its summary, which sees the main process alone.
DALI's evaluator is wrapped around the loader by hand, and prints times.

| what is wrong | the diagnosis, on the unchanged script | TraceML | torch.profiler | DALI's evaluator |
|---|---|---|---|---|
{rows}
"""


def page(record: dict[str, Any]) -> str:
    """Return the page, with a section for each part that the record has."""
    text = HEAD.format(where=where_and_when(record))
    if "overhead" in record:
        found = record["overhead"]
        text += OVERHEAD.format(pairs=found["pairs"], wall=_range(found["wall"]), cpu=_range(found["cpu"]))
    if "promise" in record:
        kept = record["promise"]
        rows = [
            (
                one["name"],
                one["cause"],
                f"{one['predicted']:.2f}",
                f"{one['measured']:.2f}",
                _yes(one["kept"]),
            )
            for one in kept
        ]
        text += PROMISE.format(kept=sum(one["kept"] for one in kept), all=len(kept), rows=_table(rows))
    if "peers" in record:
        text += _peers(record["peers"])
    return text.rstrip() + "\n"


def _peers(found: dict[str, Any]) -> str:
    columns = ("expected", "diagnosis", "traceml", "profiler", "evaluator")
    rows = [tuple(one[column] for column in columns) for one in found["said"]]
    [unchanged] = {one["unchanged"] for one in found["said"]}
    return PEERS.format(**found["versions"], unchanged=unchanged, rows=_table(rows))


def _table(rows: list[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _range(values: list[float]) -> str:
    middle, low, high = values
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def _yes(kept: bool) -> str:
    return "yes" if kept else "no"
