"""Names are linked once, and never inside code blocks, links, headings, formulas or HTML."""

import re

import pytest

from grading.links.glossary import Glossary
from grading.links.linker import Entry, Linker

PAGE = """# Glossary
<!-- page cache: cached pages -->
<!-- Arrow: pyarrow -->

## Terms

### `fork`

A copy.

### page cache

Memory.

## Programs

- [Arrow](https://arrow.example/): a format.
- [ArrayRecord](https://records.example/): a format.
"""
GLOSSARY = Glossary(PAGE)
CACHE, FORK = "../glossary.md#page-cache", "../glossary.md#fork"


def linker() -> Linker:
    return Linker(GLOSSARY.words, GLOSSARY.names, GLOSSARY.code)


def test_first_use_is_linked_and_later_ones_are_not():
    lesson = linker()
    assert lesson.link("The page cache. A page cache.") == f"The [page cache]({CACHE}). A page cache."
    assert lesson.link("Page caches") == "Page caches"


def test_each_lesson_has_first_uses_of_its_own():
    assert linker().link("fork") == linker().link("fork") == f"[fork]({FORK})"


def test_other_forms_lead_to_the_term():
    assert linker().link("Cached pages, **forks**") == f"[Cached pages]({CACHE}), **[forks]({FORK})**"


def test_term_that_is_code_is_linked_in_code_and_others_are_not():
    assert linker().link("`fork`, `page cache`") == f"[`fork`]({FORK}), `page cache`"


def test_programs_are_linked_as_they_are_written():
    assert linker().link("an arrow, then Arrow") == "an arrow, then [Arrow](https://arrow.example/)"
    assert linker().link("`Arrow`") == "`Arrow`", "a class"
    assert linker().link("`pyarrow` and Arrow") == "[`pyarrow`](https://arrow.example/) and Arrow"


def test_link_by_hand_counts_as_the_first():
    text = "[columns](https://arrow.example/), Arrow"
    assert linker().link(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "```python\nfork\n```",
        "[a fork](https://example.org/fork)",
        "![a fork](fork.svg)",
        "https://example.org/fork",
        "# A fork",
        "$fork$ and $$\nfork\n$$",
        "<details><summary>A fork</summary>",
        '<a title="fork">',
        "``a `fork` ``",
        "fork-safe",
        "pitchfork",
        "forklift",
    ],
)
def test_what_is_no_plain_text_stays(text: str):
    assert linker().link(text) == text


def test_nothing_but_links_is_added():
    text = "A `fork`, the page cache.\n\n| Arrow | fork |\n|---|---|\n| page cache | x |\n"
    assert re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", linker().link(text)) == text


def test_empty_glossary_links_nothing():
    empty = Glossary("")
    assert Linker(empty.words, empty.names, lambda _: None).link("a `fork`, forks") == "a `fork`, forks"


def test_longest_name_wins():
    names = {"Torch": Entry("Torch", "a"), "Torch Vision": Entry("Torch Vision", "b")}
    assert Linker({}, names, lambda _: None).link("Torch Vision") == "[Torch Vision](b)"
