"""The table of facts is complete, names its sources, and says what small trials show."""

import re
import sys
from pathlib import Path

import pytest

from course_utils import format_trials, formats, storage
from course_utils.format_trials import FACT_TABLE, FACTS, facts_by_format
from course_utils.formats.registry import FORMATS
from tests.format_trials.trial_samples import ALL, drawn, installed

GROUPS = [pytest.param(fact, group, id=fact) for fact, (_, groups) in FACT_TABLE.items() for group in groups]


def test_format_without_facts_is_an_error():
    with pytest.raises(ValueError, match="NewFormat: each format of the registry"):
        facts_by_format([*ALL, "NewFormat"])


def test_facts_about_no_format_of_the_registry_are_an_error():
    with pytest.raises(ValueError, match="Squashfs: "):
        facts_by_format([name for name in ALL if name != "Squashfs"])


def test_two_answers_about_a_format_are_an_error():
    fact = FACT_TABLE["appends"]
    doubled = fact._replace(groups=(*fact.groups, fact.groups[0]))
    with pytest.raises(ValueError, match=r"Parquet: .* 'appends'"):
        facts_by_format(ALL, FACT_TABLE | {"appends": doubled})


def test_every_format_has_facts():
    assert list(FACTS) == ALL


@pytest.mark.parametrize(("fact", "group"), GROUPS)
def test_source_is_a_page_or_a_name_of_the_course(fact, group):
    rooms = (format_trials, storage, formats)
    assert group.because
    assert group.source.startswith("http") or any(hasattr(room, group.source) for room in rooms)


@pytest.mark.parametrize("name", ALL)
def test_files_and_bytes_that_a_format_adds(name, tmp_path):
    samples = drawn(600, 26_000)
    installed(name).write(tmp_path / "packed", samples)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert (len(files) > len(samples)) == FACTS[name].a_file_each
    assert FACTS[name].a_file_each or len(files) <= 4
    added = sum(path.stat().st_size for path in files) - sum(len(one.data) for one in samples)
    # A small data set has more of what is written once, such as an index of a fixed size.
    assert 0.5 < added / len(samples) / FACTS[name].extra_bytes < 5


@pytest.mark.parametrize(("module", "name"), FORMATS)
def test_library_is_the_one_that_the_reader_imports(module, name):
    source = (Path(formats.__file__).parent / f"{module}.py").read_text()
    imported = set(re.findall(r"^(?:import|from) (\w+)", source, re.MULTILINE))
    assert imported - {"numpy", "course_utils"} - sys.stdlib_module_names == {FACTS[name].library} - {""}
