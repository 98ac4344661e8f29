"""Pages with the measured tables and figures of `tests/bench`, which name their versions and date."""

import re
from pathlib import Path


def benchmark_pages(course: Path) -> dict[str, str]:
    """Return the pages of the benchmarks' tables in Markdown, by name."""
    return {path.stem: path.read_text() for path in sorted((course / "tests" / "bench").glob("*.md"))}


def figures(course: Path) -> dict[Path, str]:
    """Return the figures of the benchmarks that the README shows, with their alternative texts."""
    found = re.findall(r"!\[([^\]]+)\]\((tests/bench/[^)]+)\)", (course / "README.md").read_text())
    return {course / path: " ".join(text.split()) for text, path in found}
