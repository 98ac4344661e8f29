"""Terms are linked once, and never inside code, links, headings or HTML."""

import pytest

from book.glossary import Glossary
from book.student_book import PAGES

PAGE = "<!-- page cache: cached pages -->\n{.glossary}\npage cache\n: Memory.\n\nfork\n: A copy.\n"
GLOSSARY = Glossary(PAGE)


def test_first_use_is_linked_and_later_ones_are_not():
    linker = GLOSSARY.linker()
    assert (
        linker.link("The page cache. A page cache.") == "The {term}`page cache <page cache>`. A page cache."
    )
    assert linker.link("Page caches") == "Page caches"


def test_each_page_has_first_uses_of_its_own():
    assert GLOSSARY.linker().link("fork") == GLOSSARY.linker().link("fork") != "fork"


def test_other_forms_lead_to_the_term():
    assert GLOSSARY.linker().link("Cached pages") == "{term}`Cached pages <page cache>`"


@pytest.mark.parametrize(
    "text",
    [
        "`fork`",
        "```python\nfork\n```",
        "[a fork](https://example.org/fork)",
        "![a fork](fork.svg)",
        "# A fork",
        "<summary>fork</summary>".replace(">fork<", "><"),
        '<a title="fork">',
        "fork-safe",
        "forklift",
    ],
)
def test_code_links_headings_and_other_words_stay(text: str):
    assert GLOSSARY.linker().link(text) == text


def test_terms_of_the_course_are_in_alphabetical_order():
    terms = list(dict.fromkeys(Glossary.read(PAGES / "glossary.md").forms.values()))
    assert len(terms) > 30
    assert terms == sorted(terms, key=str.lower)
