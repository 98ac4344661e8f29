"""The record of packed formats that the course does not contain is complete, and its table shows it."""

import json

import pytest

from tests.bench.other_formats import RECORD, TABLE, TITLES, reason, requirements, table

WANTED = json.loads(RECORD.read_text())


def test_table_is_that_of_the_record():
    assert TABLE.read_text() == table(WANTED)


def test_every_format_is_recorded_in_its_pinned_version():
    assert set(requirements()) == set(TITLES)
    assert [one["requirement"] for one in WANTED["formats"]] == sorted(requirements().values())


@pytest.mark.parametrize("one", WANTED["formats"], ids=lambda one: one["title"])
def test_every_format_is_measured_or_says_why_not(one):
    assert one.get("failed") or one["calls_per_sample"] >= 0 < one["disk_bytes_per_useful_byte"]


@pytest.mark.parametrize(
    ("stderr", "expected"),
    [
        ("Traceback:\nImportError: no module\n", "ImportError: no module"),
        ("  × Failed to build\n  ╰─▶ RuntimeError: Could not find opencv.\n\n  hint: see above\n",
         "RuntimeError: Could not find opencv."),
        ("", "no message"),
    ],
)  # fmt: skip
def test_reason_is_the_line_with_the_error(stderr, expected):
    assert reason(stderr) == expected
