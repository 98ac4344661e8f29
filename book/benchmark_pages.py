"""Pages with the measured tables and figures of `tests/bench`, which name machine, versions and date."""

import json
import re
from pathlib import Path

from tests.bench.recording.environment import where_and_when


def benchmark_pages(course: Path) -> dict[str, str]:
    """Return the pages of the benchmarks' tables in Markdown, by name."""
    return {path.stem: path.read_text() for path in sorted((course / "tests" / "bench").glob("*.md"))}


def page_figures(course: Path) -> list[Path]:
    """Return the figures that these pages show."""
    names = re.findall(r"!\[[^\]]+\]\(([^/)]+)\)", "".join(benchmark_pages(course).values()))
    return [course / "tests" / "bench" / name for name in names]


def figures(course: Path) -> dict[Path, str]:
    """Return the figures of the benchmarks that the README shows, with their alternative texts."""
    found = re.findall(r"!\[([^\]]+)\]\((tests/bench/[^)]+)\)", (course / "README.md").read_text())
    return {course / path: " ".join(text.split()) for text, path in found}


def made(figure: Path) -> str:
    """Return where and when a figure was drawn, from the record beside it."""
    return where_and_when(json.loads(figure.with_suffix(".json").read_text()))
