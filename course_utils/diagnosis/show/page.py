"""The report as one page: no script, no other file, light and dark, wide and narrow."""

from html import escape
from typing import Any

from course_utils.diagnosis.judge import steps as measured
from course_utils.diagnosis.show.terminal import times, told
from course_utils.diagnosis.show.trace import spans

SHOWN = 24  # batches in the timeline
COLOURS = {"wait": "var(--wait)", "train": "var(--work)", "evaluate": "var(--eval)", "fetch": "var(--load)"}
STYLE = """
:root{--text:#1b1f24;--back:#fff;--soft:#eef1f4;--wait:#d1495b;--work:#2a7f62;--eval:#8a6fb0;--load:#3a78c3;--dim:#687078}
@media(prefers-color-scheme:dark){:root{--text:#e6e8ea;--back:#15181c;--soft:#23282e;--wait:#f07585;--work:#58b894;
--eval:#b49bd8;--load:#7aaeea;--dim:#9aa3ab}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--text);background:var(--back);max-width:56rem;
margin:0 auto;padding:1rem}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}pre{background:var(--soft);padding:.7rem;
white-space:pre-wrap;overflow-wrap:anywhere;font-size:.85rem}
article{border-left:4px solid var(--wait);padding-left:1rem;margin:1.2rem 0}svg{width:100%;height:auto}
table{border-collapse:collapse}td{padding:.15rem .8rem .15rem 0}
.bar{display:flex;height:1.4rem;border-radius:4px;overflow:hidden}
.bar span{display:block}.dim{color:var(--dim)}.gain{float:right;font-weight:600}
text{fill:var(--text);font-size:14px}
"""


def page(report: dict[str, Any], records: list[dict[str, Any]]) -> str:
    """Return the page as HTML."""
    numbers = report["measured"]
    parts = [
        f"<h1>Diagnosis of {escape(report['script'] or 'a script')}</h1>",
        f"<p>{escape(report['verdict'])}</p>",
    ]
    parts += [_finding(finding) for finding in report["findings"]]
    if numbers:
        parts += [
            "<h2>A step</h2>",
            _bar(_step_parts(numbers)),
            "<h2>A sample</h2>",
            _bar(_sample_parts(numbers["fetch"])),
        ]
        parts += ["<h2>Operations</h2>", _table(numbers)]
    parts += ["<h2>Some batches, by process</h2>", _timeline(records)]
    parts += [f"<p class=dim>Not known: {escape(line)}</p>" for line in report["unknown"]]
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        '<meta name=viewport content="width=device-width,initial-scale=1">'
        f"<title>Diagnosis</title><style>{STYLE}</style><body>{''.join(parts)}</body></html>\n"
    )


def _finding(finding: dict[str, Any]) -> str:
    gain = f"<span class=gain>{times(finding['gain'])} as fast</span>" if finding["gain"] else ""
    evidence = "".join(f"<li>{escape(line)}" for line in finding["evidence"])
    return (
        f"<article>{gain}<h2>{escape(finding['cause'].replace('_', ' '))}</h2>"
        f"<p>{escape(finding['sentence'])}</p><ul>{evidence}</ul><pre>{escape(finding['remedy'])}</pre>"
        f"<p class=dim>Lesson {escape(finding['lesson'])}</p></article>"
    )


def _step_parts(numbers: dict[str, Any]) -> list[tuple[str, float, str, str]]:
    return [
        ("waiting", numbers["wait"], "var(--wait)", measured.ms(numbers["wait"])),
        ("computing", numbers["compute"], "var(--work)", measured.ms(numbers["compute"])),
    ]


def _sample_parts(fetch: dict[str, float]) -> list[tuple[str, float, str, str]]:
    rest = max(fetch["cpu"] - fetch["decode"] - fetch["collate"], 0.0)
    parts = [
        ("decode", fetch["decode"], "var(--load)"),
        ("Python and transforms", rest, "var(--work)"),
        ("collate", fetch["collate"], "var(--eval)"),
        ("blocked", fetch["blocked"], "var(--wait)"),
        ("waiting for a core", fetch["delay"], "var(--dim)"),
    ]
    return [(name, share, colour, f"{share:.0%}") for name, share, colour in parts if share > 0.005]


def _bar(parts: list[tuple[str, float, str, str]]) -> str:
    whole = sum(part[1] for part in parts) or 1
    spans_ = "".join(
        f'<span style="width:{100 * size / whole:.1f}%;background:{c}"></span>' for _, size, c, _ in parts
    )
    legend = " · ".join(
        f'<span style="color:{c}">■</span> {escape(name)} {text}' for name, _, c, text in parts
    )
    label = escape(", ".join(f"{name} {text}" for name, _, _, text in parts))
    return f'<div class=bar role=img aria-label="{label}">{spans_}</div><p>{legend}</p>'


def _table(numbers: dict[str, Any]) -> str:
    fetch = numbers["fetch"]
    rows = [
        ("opens a sample (Python's)", f"{fetch['opens']:.2f}"),
        ("look-ups a sample, failed", f"{fetch['looked']:.2f}, {fetch['failed']:.2f}"),
        ("listings a sample", f"{fetch['listings']:.2f}"),
        ("requests a sample (Python's HTTP client)", f"{fetch['requests']:.2f}"),
        ("read a sample, used", f"{fetch['read'] / 1024:.1f} KiB, {fetch['used'] / 1024:.1f} KiB"),
        ("parts of a batch, bytes", f"{fetch['parts']:.0f}, {fetch['nbytes'] / 2**20:.2f} MiB"),
        ("epochs", ", ".join(measured.ms(seconds) for seconds in numbers["epochs"][:12])),
    ]
    rows += [("tokens", told(numbers["tokens"]))] if numbers["tokens"]["places"] else []
    return "<table>" + "".join(f"<tr><td>{escape(a)}<td>{escape(b)}" for a, b in rows) + "</table>"


def _timeline(records: list[dict[str, Any]]) -> str:
    listed = spans(records)
    waits = [span for span in listed if span[2] == "wait"]
    if len(waits) < 4:
        return "<p class=dim>Too few batches.</p>"
    middle = min(len(waits) // 2, len(waits) - 4)
    begin, end = waits[middle][3], waits[min(middle + SHOWN, len(waits) - 1)][3]
    shown = [span for span in listed if span[3] < end and span[3] + span[4] > begin and span[2] in COLOURS]
    lanes = sorted({(span[1] != "main process", span[1], span[0]) for span in shown})[:12]
    drawn = []
    for row, (_, lane, pid) in enumerate(lanes):
        drawn.append(f'<text x=0 y="{row * 26 + 15}">{escape(lane)}</text>')
        for _, _, name, start, seconds in (span for span in shown if span[:2] == (pid, lane)):
            left = 110 + 390 * max(start - begin, 0) / (end - begin)
            width = 390 * (min(start + seconds, end) - max(start, begin)) / (end - begin)
            drawn.append(
                f'<rect x="{left:.1f}" y="{row * 26 + 2}" width="{max(width, 0.4):.1f}" height=20 '
                f'fill="{COLOURS[name]}"/>'
            )
    drawn_kinds = {span[2] for span in shown}
    legend = " · ".join(
        f'<span style="color:{colour}">■</span> {name}'
        for name, colour in COLOURS.items()
        if name in drawn_kinds
    )
    head = f'<svg viewBox="0 0 500 {len(lanes) * 26}" role=img aria-label="timeline">'
    return f"{head}{''.join(drawn)}</svg><p>{legend}; {measured.ms(end - begin)} in all</p>"
