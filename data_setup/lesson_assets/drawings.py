"""Draw the SVG pictures of lesson 01.

Run `python -m data_setup.lesson_assets.drawings solutions/01_jpeg_vs_zip/pictures`.
"""

import argparse
from pathlib import Path

from course_utils.figures import INK

BLUE, ORANGE, GREEN, YELLOW, GREY = "#dbe9f6", "#f9d9c3", "#d9ead3", "#f6e3b4", "#eeeeee"
COLOURS = {"R": "#e06666", "G": "#93c47d", "B": "#6d9eeb"}
RUST = "#b5522b"
STYLE = (
    f"text{{font:14px sans-serif;fill:{INK}}}.b{{fill:#222}}"
    ".s{font-size:12px}.h{font-size:16px;font-weight:bold}"
)
HEAD = f'<path d="M0 0 8 4 0 8z" fill="{INK}"/>'
MARKER = f'<marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" orient="auto">{HEAD}</marker>'


def box(x: int, y: int, width: int, height: int, fill: str) -> str:
    """Return a rectangle with rounded corners."""
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" fill="{fill}" stroke="#333"/>'


def text(x: int, y: int, words: str, kind: str = "") -> str:
    """Return text centred at a point.

    Args:
        x: Centre, in pixels from the left.
        y: Baseline, in pixels from the top.
        words: The text.
        kind: Of "s" for small, "h" for a heading and "b" for dark text in a box, any.
    """
    return f'<text x="{x}" y="{y}" text-anchor="middle" class="{kind}">{words}</text>'


def arrow(start: tuple[int, int], end: tuple[int, int], width: float, colour: str) -> str:
    """Return a straight arrow."""
    (x1, y1), (x2, y2) = start, end
    ends = f'x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}" marker-end="url(#a)"/>'


def svg(width: int, height: int, title: str, parts: list[str]) -> str:
    """Return a drawing without a background, for light and dark themes."""
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    top = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    lines = [top, f"<title>{title}</title>", f"<style>{STYLE}</style>", f"<defs>{MARKER}</defs>"]
    return "\n".join([*lines, *parts, "</svg>"]) + "\n"


def many_or_one() -> str:
    """Draw the load on a shared file system: many small files against one packed file."""
    parts = [f'<line x1="410" y1="20" x2="410" y2="280" stroke="{INK}"/>']
    for left, heading in ((0, "Many small files"), (420, "One packed file")):
        parts += [text(left + 200, 26, heading, "h"), *_machines(left)]
    for user in range(4):
        parts += [
            arrow((92, 60 + 52 * user + 5 * k), (173, 48 + 10 * user + 5 * k), 1.2, RUST) for k in range(4)
        ]
        parts.append(arrow((512, 66 + 52 * user), (593, 52 + 12 * user), 1.2, RUST))
        parts.append(arrow((512, 80 + 52 * user), (728, 147 + 30 * user), 3, INK))
    parts += [arrow((92, 232), (308, 242), 1.2, INK), arrow((92, 178), (308, 200), 1.2, INK)]
    parts += [
        text(205, 262, "open, stat, read, close", "s"),
        text(205, 278, "for each image of each user", "s"),
    ]
    parts += [text(625, 262, "one open each,", "s"), text(625, 278, "then reads from the storage", "s")]
    return svg(820, 292, "Many small files load the metadata server, one packed file the storage", parts)


def _machines(left: int) -> list[str]:
    parts = [box(left + 175, 40, 90, 60, ORANGE)]
    parts += [text(left + 220, 66, "metadata", "b"), text(left + 220, 84, "server", "b")]
    for user in range(4):
        words = "user" if user < 3 else "…"
        parts += [box(left + 20, 50 + 52 * user, 70, 36, BLUE), text(left + 55, 73 + 52 * user, words, "b")]
    for server in range(3):
        y = 130 + 46 * server
        parts += [box(left + 310, y, 80, 34, GREEN), text(left + 350, y + 22, "storage", "b")]
    return parts


def zip_anatomy() -> str:
    """Draw the layout of a stored zip: members with their headers, then the central directory."""
    parts = [text(180, 34, "the members, one after the other", "s"), text(500, 83, "…")]
    for number, x in enumerate((10, 170, 330)):
        parts += [box(x, 50, 34, 56, YELLOW), text(x + 17, 83, "head", "b s"), box(x + 34, 50, 116, 56, BLUE)]
        parts += [text(x + 92, 76, f"img0000000{number}", "b"), text(x + 92, 94, "JPEG bytes", "b s")]
        start = 560 + 50 * number
        curve = f"M{start} 108 C{start - 20} 175 {x + 40} 175 {x + 4} 110"
        parts.append(f'<path d="{curve}" fill="none" stroke="{INK}" marker-end="url(#a)"/>')
    parts += [box(520, 50, 220, 56, GREEN), text(630, 73, "central directory", "b")]
    parts += [text(630, 93, "name, offset, size of each", "b s"), box(740, 50, 40, 56, GREY)]
    parts += [text(760, 83, "end", "b s"), text(650, 34, "read once, when the zip is opened", "s")]
    parts.append(text(300, 180, "each sample: a jump to its offset", "s"))
    return svg(800, 190, "The layout of a stored zip", parts)


def layouts() -> str:
    """Draw the same six bytes read as HWC and as CHW."""
    parts = [text(299, 22, "the first six bytes of the same member", "s")]
    rows = (("H×W×C", "RGBRGB", "two pixels"), ("C×H×W", "RRRRRR", "the red of six neighbouring pixels"))
    for row, (name, letters, caption) in enumerate(rows):
        y = 36 + 108 * row
        parts += [text(62, y + 26, name, "h"), text(299, y + 62, caption, "s")]
        for place, letter in enumerate(letters):
            x = 125 + 58 * place
            parts += [box(x, y, 58, 40, COLOURS[letter]), text(x + 29, y + 26, letter, "b")]
    for x in (125, 299):
        frame = f'x="{x}" y="36" width="174" height="40"'
        parts.append(f'<rect {frame} fill="none" stroke="{INK}" stroke-width="3"/>')
    return svg(500, 215, "Six bytes, read as rows of pixels or as a plane", parts)


DRAWINGS = {"many_or_one.svg": many_or_one, "zip_anatomy.svg": zip_anatomy, "layouts.svg": layouts}


def make_drawings(folder: Path) -> None:
    """Write all drawings to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in DRAWINGS.items():
        (folder / name).write_text(draw())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Draw the pictures of lesson 01.")
    parser.add_argument("folder", type=Path, help="where the drawings go")
    make_drawings(parser.parse_args().folder)
