"""Pieces of Markdown that teachers' pages are made of."""

import re


def folded(title: str, body: str) -> str:
    """Return a part of a page that opens on a click."""
    return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>"


def fenced(source: str, language: str) -> str:
    """Return code as Markdown; the fence is longer than any run of backticks in it."""
    longest = max(map(len, re.findall(r"`+", source)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{source.strip()}\n{fence}"


def escaped(text: str) -> str:
    """Return plain text such that Markdown shows it as it is."""
    return re.sub(r"([\\`*_{}\[\]<>#|$~])", r"\\\1", text)
