"""A trace of all processes in the format that Perfetto and Chrome open."""

from typing import Any

Event = dict[str, Any]


def spans(records: list[dict[str, Any]]) -> list[tuple[int, str, str, float, float]]:
    """Return process, lane, name, start and seconds of what was recorded in detail."""
    found = []
    for record in records:
        if record["kind"] == "fetch":
            lane = f"worker {record['worker']}" if record["worker"] >= 0 else "loading in the main process"
            found.append((record["pid"], lane, "fetch", record["start"], record["wall"]))
        elif record["kind"] == "epoch":
            what = "train" if record["training"] else "evaluate"
            for enter, wait, _cpu, _ready, _later, gap, _steps, _gap_cpu, others, *_ in record["rows"]:
                found.append((record["pid"], "main process", "wait", enter, wait))
                if gap > 0 and not others:
                    found.append((record["pid"], "main process", what, enter + wait, gap))
        elif record["kind"] == "main":
            found += [
                (record["pid"], "pauses", name, begin, end - begin) for name, begin, end in record["pauses"]
            ]
    return sorted(found, key=lambda span: span[3])


def events(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the events of a trace, in microseconds."""
    listed = spans(records)
    first = listed[0][3] if listed else 0.0
    lanes = {
        (pid, lane): number for number, (pid, lane) in enumerate(sorted({span[:2] for span in listed}), 1)
    }
    names: list[Event] = [
        {"ph": "M", "name": "thread_name", "pid": pid, "tid": number, "args": {"name": lane}}
        for (pid, lane), number in lanes.items()
    ]
    return {
        "traceEvents": names
        + [
            {"ph": "X", "name": name, "pid": pid, "tid": lanes[pid, lane],
             "ts": round((start - first) * 1e6, 1), "dur": round(seconds * 1e6, 1)}
            for pid, lane, name, start, seconds in listed
        ]
    }  # fmt: skip
