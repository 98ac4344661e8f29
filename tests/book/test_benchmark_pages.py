"""The book's benchmarks say where, when and with what they were measured."""

import re

import pytest

from book import benchmark_pages
from tests.lessons.lesson import COURSE

MADE = re.compile(r"\d{4}-\d\d-\d\d, (Linux|Darwin|machine not recorded).*?, Python \d+\.\d+\.\d+")


@pytest.mark.parametrize("name", benchmark_pages.benchmark_pages(COURSE))
def test_page_names_date_machine_and_versions(name):
    assert MADE.search(benchmark_pages.benchmark_pages(COURSE)[name])


@pytest.mark.parametrize("path", benchmark_pages.figures(COURSE), ids=lambda path: path.name)
def test_figure_of_the_readme_has_date_machine_and_versions(path):
    assert MADE.match(benchmark_pages.made(path))


def test_figures_of_pages_exist():
    assert all(path.exists() for path in benchmark_pages.page_figures(COURSE))
