"""The page of what was measured about the diagnosis, from its record."""

from typing import Any

from course_utils.diagnosis.judge.verdict import MOST_GAIN
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

Each remedy was applied to a script of the clinic (`tests/diagnosis/clinic`), and both were run in turns,
{rounds} times. Of {cures} cures a gain was predicted for {all}; for {kept} of these, what was measured lies
within a quarter of it. Where the report says "at least {most:.0f} ×", as much or more is right.

| script | cause | predicted | measured | within a quarter |
|---|---|---|---|---|
{rows}

"""
PEERS = """## What other tools say of the same scripts

TraceML {traceml}, torch.profiler of PyTorch {torch} and DALI's `LoaderEvaluator` {dali}, on a CPU. TraceML
gets `trace_step` around the steps, as its manual asks; of the unchanged scripts it said "{unchanged}".
The profiler's column has the two largest entries of its summary, which sees the main process alone.
DALI's evaluator is wrapped around the loader by hand, and prints times.

| what is wrong | the diagnosis, on the unchanged script | TraceML | torch.profiler | DALI's evaluator |
|---|---|---|---|---|
{rows}
"""
YES = {True: "yes", False: "no", None: "–"}


def page(record: dict[str, Any]) -> str:
    """Return the page, with a section for each part that the record has."""
    text = HEAD.format(where=where_and_when(record))
    if "overhead" in record:
        found = record["overhead"]
        text += OVERHEAD.format(pairs=found["pairs"], wall=_range(found["wall"]), cpu=_range(found["cpu"]))
    if "promise" in record:
        text += _promise(record["promise"])
    if "peers" in record:
        text += _peers(record["peers"])
    return text.rstrip() + "\n"


def _promise(kept: list[dict[str, Any]]) -> str:
    rows = [
        (one["name"], one["cause"], _gain(one["predicted"]), _gain(one["measured"]), YES[one["kept"]])
        for one in kept
    ]
    judged = [one["kept"] for one in kept if one["kept"] is not None]
    rounds = " or ".join(sorted({str(one["rounds"]) for one in kept}))
    counts = {"cures": len(kept), "all": len(judged), "kept": sum(judged), "most": MOST_GAIN}
    return PROMISE.format(**counts, rounds=rounds, rows=_table(rows))


def _gain(gain: float | None) -> str:
    return f"{gain:.2f}" if gain else "–"


def _peers(found: dict[str, Any]) -> str:
    columns = ("expected", "diagnosis", "traceml", "profiler", "evaluator")
    rows = [tuple(one[column] for column in columns) for one in found["said"]]
    unchanged = sorted({one["unchanged"] for one in found["said"]})
    return PEERS.format(**found["versions"], unchanged='" or "'.join(unchanged), rows=_table(rows))


def _table(rows: list[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _range(values: list[float]) -> str:
    middle, low, high = values
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"
