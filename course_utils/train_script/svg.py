"""A small picture of the progress for the start page, readable on white and on black."""

import base64

from course_utils.figures import BLUE, GREEN, INK, ORANGE
from course_utils.train_script.before_after import Progress

_LEFT, _WIDTH, _ROW = 60, 300, 26


def picture(found: Progress) -> str:
    """Return Markdown: an image of two bars and the ceiling, which says the same in its alternative text."""
    speeds = {"before": found.before.fastest, "now": found.newest.fastest}
    scale = _WIDTH / max(*speeds.values(), found.ceiling or 0)
    drawn = []
    for top, (name, speed), color in zip((0, _ROW), speeds.items(), (ORANGE, BLUE), strict=True):
        length = f'width="{scale * speed:.1f}" height="18"'
        drawn.append(_text(0, top + 17, name))
        drawn.append(f'<rect x="{_LEFT}" y="{top + 4}" {length} fill="{color}" stroke="{INK}"/>')
        drawn.append(_text(_LEFT + scale * speed + 8, top + 17, f"{speed:,.0f} images/s"))
    if found.ceiling:
        x, bottom = _LEFT + scale * found.ceiling, 2 * _ROW
        drawn.append(
            f'<path d="M{x:.1f} 0V{bottom}" stroke="{GREEN}" stroke-width="2" stroke-dasharray="5 3"/>'
        )
        drawn.append(_text(x - 40, bottom + 15, f"ceiling: {found.ceiling:,.0f}"))
    size = f'width="{_LEFT + _WIDTH + 150}" height="{2 * _ROW + 20}"'
    style = f'font-family="sans-serif" font-size="13" fill="{INK}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size}><g {style}>{"".join(drawn)}</g></svg>'
    return f"![{found}](data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()})"


def _text(x: float, y: int, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y}">{text}</text>'
