"""A report in a terminal as an SVG picture."""

from html import escape

STYLE = """text{font:13px monospace;fill:#d7dade;white-space:pre}
.head{fill:#fff;font-weight:bold}.remedy{fill:#8fd3a5}"""
REMEDY = 5  # spaces before its lines


def draw(lines: list[str]) -> str:
    """Return the picture of these lines."""
    width = 8 * max(map(len, lines)) + 24
    rows = [_row(line, 24 + 18 * number) for number, line in enumerate(lines)]
    height = 18 * len(lines) + 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"><style>'
        f'{STYLE}</style><rect width="100%" height="100%" rx="8" fill="#1d2127"/>{"".join(rows)}</svg>\n'
    )


def _row(line: str, y: int) -> str:
    kind = "remedy" if len(line) - len(line.lstrip()) == REMEDY else ""
    head = line[:1].isdigit() or line.startswith("verdict")
    kind = "head" if head else kind
    return f'<text x="12" y="{y}" class="{kind}" xml:space="preserve">{escape(line)}</text>'
