"""Judge a run: findings with their gains, the largest first, and a sentence where there is none."""

from pathlib import Path
from typing import Any

from course_utils.diagnosis.judge import loading, pauses, records, results, survival
from course_utils.diagnosis.judge.evidence import Loader, Record
from course_utils.diagnosis.judge.fetches import fetch_of, padding, rate
from course_utils.diagnosis.judge.finding import CAUSES, Finding
from course_utils.diagnosis.judge.stages import stages
from course_utils.diagnosis.judge.steps import measured

VERSION = 1
MOST = 5
LEAST_GAIN, MOST_GAIN = 1.03, 5.0
NOT_SPEED = ("result", "survival")


def judge(folder: Path) -> dict[str, Any]:
    """Judge what was recorded in a folder; the result is what `--json` writes."""
    mains, loaders, _ = records.read(folder)
    main = mains[0] if mains else {}
    training = [loader for loader in loaders if loader.training]
    chosen = max(training, key=lambda loader: loader.seconds, default=None)
    found = _findings(loaders, chosen)
    listed = _with_gains(found, chosen)[:MOST]
    if chosen and _busy(chosen, main) and fetch_of(chosen).delay > loading.DELAYED:
        # no gain is predicted from such times
        listed = [(finding, None, None) for finding, _, _ in listed]
    return {
        "version": VERSION,
        "findings": [_described(*item) for item in listed],
        "verdict": _verdict(found, chosen, main),
        "unknown": _unknown(chosen, main),
        "measured": _measured(chosen) if chosen else {},
        "loaders": [_summary(loader) for loader in loaders],
        "run": {
            key: value
            for key, value in main.items()
            if key in ("torch", "python", "cores", "steps", "status", "cuda")
        },
    }


def _findings(loaders: list[Loader], chosen: Loader | None) -> list[Finding]:
    wrong = results.findings(loaders) + survival.findings(loaders) + pauses.ranks(loaders)
    if chosen:
        others = [loader for loader in loaders if loader is not chosen and loader.main is chosen.main]
        chosen.others = others
        wrong += [*loading.findings(chosen), *padding(chosen), *pauses.findings(chosen)]
    return list({finding.cause: finding for finding in reversed(wrong)}.values())[::-1]


def _with_gains(
    found: list[Finding], chosen: Loader | None
) -> list[tuple[Finding, float | None, float | None]]:
    """Findings with the gain alone, and together with those before them; wrong results come first."""
    now = stages(chosen) if chosen else None
    alone = {
        finding.cause: now.step() / max(finding.change(now).step(), 1e-9) if now and finding.change else None
        for finding in found
    }

    def order(finding: Finding) -> tuple[int, float]:
        kind = CAUSES[finding.cause].kind
        return [*NOT_SPEED, "speed"].index(kind), -(alone[finding.cause] or finding.weight)

    listed, after = [], now
    # Python's sort is stable: of equal gains the rule that was asked first comes first.
    for finding in sorted(found, key=order):
        gain = alone[finding.cause]
        if finding.change and after:
            after = finding.change(after)
        together = now.step() / max(after.step(), 1e-9) if now and after and gain else None
        listed.append((finding, gain, together))
    return _main_cause_first(listed)


def _main_cause_first(listed: list[Any]) -> list[Any]:
    """Where loading has no workers, or lacks cores, its other causes are judged from there."""
    for cause in ("no_workers", "too_many_threads", "fewer_cores", "expensive_handover"):
        first = [item for item in listed if item[0].cause == cause]
        if first and (cause != "no_workers" or not _far_larger(listed, first[0])):
            kinds = [item for item in listed if CAUSES[item[0].cause].kind in NOT_SPEED]
            rest = [item for item in listed if item not in kinds and item not in first]
            return [*kinds, *first, *rest]
    return listed


def _far_larger(listed: list[Any], first: Any) -> bool:
    causes = (
        "decoded_at_full_size", "too_much_read", "file_per_sample", "request_per_sample",
        "garbage_collection", "padding",
    )  # fmt: skip
    return any(item[0].cause in causes and (item[1] or 1) > 1.5 * (first[1] or 1) for item in listed)


def _described(finding: Finding, gain: float | None, together: float | None) -> dict[str, Any]:
    cause = CAUSES[finding.cause]
    faster = gain if gain and gain >= LEAST_GAIN else None
    return {
        "cause": finding.cause, "kind": cause.kind, "sentence": cause.sentence, "evidence": finding.evidence,
        "remedy": finding.remedy, "lesson": cause.lesson,
        "gain": _rounded(faster), "together": _rounded(together if faster else None),
    }  # fmt: skip


def _rounded(gain: float | None) -> float | None:
    """Two digits; above `MOST_GAIN` the tenths of milliseconds that nobody measured would decide."""
    return round(min(gain, MOST_GAIN), 2) if gain else None


def _verdict(found: list[Finding], chosen: Loader | None, main: Record) -> str:
    if chosen is None:
        steps = main.get("steps", 0)
        return (
            f"no batch of a DataLoader was seen ({steps} steps of optimizers): nothing can be said of loading"
        )
    steps = measured(chosen)
    if steps.number < loading.FEW_STEPS:
        return f"too few steps to judge speed: {steps.number} after the first batch of an epoch"
    if found:
        return f"{len(found)} finding{'s' if len(found) > 1 else ''}"
    if steps.share < loading.DEADBAND:
        return f"nothing to gain: {1 - steps.share:.0%} of a step is computing"
    if steps.share < loading.WARNING:
        most = 1 / (1 - steps.share)
        return f"little to gain: {steps.share:.0%} of a step is waiting, at most {most:.2f} × as fast"
    fetch, share = fetch_of(chosen), f"{steps.share:.0%} of a step is waiting"
    if loading.busy_machine(chosen, fetch, stages(chosen)):
        return f"{share}, because others use the cores; else nothing to gain"
    if chosen.workers and loading.in_time(chosen):
        return f"{share}, though workers deliver in time: busy cores?"
    if fetch.blocked > 0.5 and fetch.opens < 0.5:
        return f"{share} for a source that is no file (network, sleep, simulator)"
    return f"{share} for batches; the loading shows no known illness, it is work"


def _unknown(chosen: Loader | None, main: Record) -> list[str]:
    said = []
    if main.get("status") == "cut off":
        said.append("the rest of the run: a signal cut it off")
    if chosen and not chosen.of("fetch"):
        said.append("the fetches of the workers were not seen: only waiting is known")
    if chosen and chosen.of("batch") and not chosen.of("states"):
        said.append("the generators of random numbers were not seen")
    clients = sorted({name for record in chosen.of("process") for name in record["unseen"]}) if chosen else []
    if clients:
        said.append(f"the requests of {', '.join(clients)}: no hook of Python sees them")
    if chosen and _busy(chosen, main):
        waited = f"others waited for cores {main['pressure']:.0%} of the time"
        said.append(f"a busy machine: {waited}; times and gains are rough")
    if not main.get("cuda"):
        said.append("no accelerator was used: copies and synchronisations were not judged")
    return said


def _busy(loader: Loader, main: Record) -> bool:
    """Whether somebody waited for the cores, and it was not this training alone that used them."""
    used = main.get("cpu", 0.0) + sum(fetch["cpu"] + fetch["others"] for fetch in loader.of("fetch"))
    seconds = (main.get("ended", 0) - main.get("begun", 0)) * main.get("cores", 1)
    return float(main.get("pressure", -1)) > 0.4 and float(used) < 0.7 * float(seconds)


def _measured(loader: Loader) -> dict[str, Any]:
    """The numbers behind the bars of the report, in seconds, with the way they were measured."""
    steps, stage, fetch = measured(loader), stages(loader), fetch_of(loader)
    return {
        "steps": steps.number, "wait": steps.wait, "wait_spread": steps.spread, "compute": steps.compute,
        "share": steps.share, "workers": stage.workers, "cores": stage.cores, "load": stage.load,
        "fetch": fetch._asdict(), "tokens": rate(loader)._asdict(), "rest": stage.rest,
        "step": stage.step(),
        "epochs": [round(epoch["ended"] - epoch["begun"], 4) for epoch in loader.epochs],
    }  # fmt: skip


def _summary(loader: Loader) -> dict[str, Any]:
    names = ("dataset", "length", "batch_size", "workers", "start", "sampler")
    return {name: loader.settings[name] for name in names} | {
        "training": loader.training, "epochs": len(loader.epochs), "batches": loader.count,
        "share": round(measured(loader).share, 4), "rank": loader.main.get("rank", 0),
    }  # fmt: skip
