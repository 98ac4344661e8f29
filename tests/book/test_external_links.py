"""The record of links to other hosts is complete, and every link has a form that can work."""

import re
from datetime import UTC, date, datetime
from urllib.parse import urlsplit

import pytest

from book.external_links import (
    COURSE,
    NOT_OPENED,
    Seen,
    all_links,
    links_in,
    open_all,
    opened,
    read_record,
    updated,
)

WITHOUT_TLS = {"http://www.lmdb.tech/doc/"}
TODAY = date(2026, 11, 22)


def test_record_lists_exactly_the_links_of_the_course():
    assert set(read_record()) == all_links(COURSE), "python -m book.external_links --list"


def test_links_have_a_host_and_use_https():
    for link in set(read_record()) - WITHOUT_TLS:
        assert re.fullmatch(r"https://[a-z0-9.-]+\.[a-z]{2,}(/[\w./~%+:@?=&#,()-]*)?", link), link


def test_no_page_is_linked_by_two_spellings():
    spellings: dict[str, set[str]] = {}
    for link in read_record():
        parts = urlsplit(link)
        page = f"{parts.netloc.removeprefix('www.')}{parts.path.rstrip('/')}?{parts.query}".lower()
        spellings.setdefault(f"{page}#{parts.fragment}", set()).add(link)
    assert not [same for same in spellings.values() if len(same) > 1]


def test_record_says_when_each_link_answered_or_that_it_never_did():
    for link, seen in read_record().items():
        assert seen.status, link
        if seen.day is None:
            assert seen.status not in ("working", "redirected"), link
        else:
            assert date.fromisoformat(seen.day) <= datetime.now(UTC).date(), link


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[a](https://a.org/x_(y)).", {"https://a.org/x_(y)"}),
        ("see https://a.org/x, or <https://b.org>.", {"https://a.org/x", "https://b.org"}),
        ('"https://a.org/{name}" and f"https://mybinder.org/v2/gh/{name}"', set()),
        ("https://example.org/x https://hub.example.org https://the.hub http://localhost:8888/lab", set()),
    ],
)
def test_links_are_found_in_texts_and_examples_are_not(text: str, links: set[str]):
    assert links_in(text) == links


def test_record_keeps_what_is_known_and_forgets_links_that_are_gone():
    known = {"https://a.org": Seen("2026-01-01", "working"), "https://b.org": Seen(None, NOT_OPENED)}
    assert updated(known, {"https://a.org", "https://c.org"}) == {
        "https://a.org": known["https://a.org"],
        "https://c.org": Seen(None, NOT_OPENED),
    }


def test_link_that_stops_answering_keeps_the_day_on_which_it_did():
    known = {"https://a.org": Seen("2026-01-01", "working"), "https://b.org": Seen(None, NOT_OPENED)}
    answers = {
        "https://a.org": {"status": "broken", "info": "404"},
        "https://b.org": {"status": "redirected", "info": "https://c.org"},
    }
    assert opened(known, answers, TODAY) == {
        "https://a.org": Seen("2026-01-01", "broken: 404"),
        "https://b.org": Seen("2026-11-22", "redirected"),
    }
    assert opened(known, {}, TODAY)["https://a.org"].status.startswith("unchecked")


@pytest.mark.proof
def test_checker_reports_each_link():
    """Of addresses that nothing listens on, Sphinx's checker says that they are broken."""
    link = "http://127.0.0.1:9/nothing"
    assert open_all({link})[link]["status"] == "broken"
