"""The report for a terminal: at most 40 lines."""

import textwrap
from typing import Any

from course_utils.diagnosis.judge import steps as measured
from course_utils.diagnosis.judge import verdict

WIDTH, MOST_LINES, BAR = 100, 40, 30


def lines(report: dict[str, Any]) -> list[str]:
    """Return the lines of a report."""
    numbers, run = report["measured"], report["run"]
    head = f"diagnosis of {report['script'] or 'a script'}: {run.get('steps', 0)} steps"
    said = [f"{head}, torch {run['torch']}, {run['cores']} cores" if run else head]
    if numbers:
        said += _measured(numbers)
    for place, finding in enumerate(report["findings"], 1):
        said += _finding(place, finding)
    said += ["", f"verdict: {report['verdict']}"]
    if "ceiling" in report:
        said.append(f"ceiling, by replaying one batch: {_ceiling(report['ceiling'])}")
    if "strace" in report:
        said.append(f"all file operations, by strace: {report['strace']}")
    said += [f"not known: {line}" for line in report["unknown"]]
    return _cut(said)


def _measured(numbers: dict[str, Any]) -> list[str]:
    fetch = numbers["fetch"]
    low, high = numbers["wait_spread"]
    filled = round(BAR * numbers["share"])
    where = f"{numbers['workers']} workers" if numbers["workers"] else "the main process"
    spread = f"{measured.ms(low)} to {measured.ms(high)}"
    waiting = f"{numbers['share']:.0%} waiting: {measured.ms(numbers['wait'])} ({spread})"
    parts = (
        f"{fetch['cpu']:.0%} on a core, {fetch['blocked']:.0%} blocked, {fetch['delay']:.0%} waiting for one"
    )
    bar = "█" * filled + "░" * (BAR - filled)
    computing = measured.ms(numbers["compute"])
    work = f"pictures {fetch['decode']:.0%}, collate {fetch['collate']:.0%}"
    listings = f"{fetch['listings']:.1f} listings, " if fetch["listings"] >= 0.05 else ""
    asked = f"{fetch['opens']:.1f} opens, {fetch['looked']:.1f} look-ups, {listings}"
    asked += f"{fetch['requests']:.1f} requests, " if fetch["requests"] >= 0.05 else ""
    files = f"{asked}{fetch['read'] / 1024:.1f} KiB read"
    said = [
        f"  a step   {bar}  {waiting}, {computing} computing",
        f"  a batch  {measured.ms(numbers['load'])} in {where}: {parts}",
        f"           {work}; a sample: {files}",
    ]
    return said + ([f"  tokens   {told(numbers['tokens'])}"] if numbers["tokens"]["places"] else [])


def told(tokens: dict[str, float]) -> str:
    """Tokens in words."""
    padded = f"{tokens['share']:.0%} of the places are useful, the rest is padding"
    return f"{tokens['second']:,.0f} a second; {padded if tokens['share'] < 0.995 else 'no padding'}"


def _finding(place: int, finding: dict[str, Any]) -> list[str]:
    gain = f"  [{times(finding['gain'])} as fast]" if finding["gain"] else ""
    if finding["gain"] and finding["together"] and finding["together"] > finding["gain"] * 1.05:
        gain = f"{gain[:-1]}, {times(finding['together'])} with those above]"
    evidence = textwrap.wrap("; ".join(finding["evidence"]), WIDTH - 3)[:2]
    remedy = [f"     {line}" for line in finding["remedy"].splitlines()[:4]]
    return [
        "",
        f"{place}. {finding['cause']}{gain}",
        f"   {finding['sentence']}",
        *(f"   {line}" for line in evidence),
        *remedy,
        f"   lesson {finding['lesson']}",
    ]


def times(gain: float) -> str:
    """A gain in words."""
    return f"{gain:.1f} ×" if gain < verdict.MOST_GAIN else f"at least {verdict.MOST_GAIN:.0f} ×"


def _cut(said: list[str]) -> list[str]:
    """Leave out empty lines, then remedies, if there are too many lines."""
    for leave_out in ("", "     "):
        if len(said) <= MOST_LINES:
            break
        said = [line for line in said if (line.strip() if not leave_out else not line.startswith(leave_out))]
    return said[:MOST_LINES]


def _ceiling(ceiling: dict[str, Any]) -> str:
    return ceiling.get("why_not") or f"{measured.ms(ceiling['step'])} a step, {ceiling['gain']} × as fast"
