"""Compare two reports: what was predicted, and what came of it."""

from typing import Any

from course_utils.diagnosis.judge import steps as measured
from course_utils.diagnosis.show.terminal import times


def compare(before: dict[str, Any], after: dict[str, Any]) -> str:
    """Say what changed between two runs of a script."""
    causes = {finding["cause"]: finding for finding in before["findings"]}
    now = {finding["cause"] for finding in after["findings"]}
    said = []
    for name in ("wait", "compute", "load"):
        one, other = before["measured"].get(name), after["measured"].get(name)
        if one is not None and other is not None:
            said.append(f"{name + ':':9} {measured.ms(one)} → {measured.ms(other)}")
    speed = _step(before) / _step(after) if _step(before) and _step(after) else None
    said.append(f"a step:   {speed:.2f} × as fast" if speed else "a step:   not measured in both")
    for cause, finding in causes.items():
        state = "still there" if cause in now else "gone"
        predicted = f", predicted {times(finding['gain'])}" if finding["gain"] else ""
        said.append(f"{cause}: {state}{predicted}")
    said += [f"{cause}: new" for cause in sorted(now - causes.keys())]
    return "\n".join([*said, ""])


def _step(report: dict[str, Any]) -> float:
    measured = report["measured"]
    return float(measured.get("wait", 0) + measured.get("compute", 0) + measured.get("rest", 0))
