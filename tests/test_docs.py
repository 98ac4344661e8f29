"""What the pages beside the code say is true of the code: versions, commands, paths, examples."""

import re
import subprocess
import tomllib
from types import ModuleType

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from course_utils.checks.core import Check, CheckFailed
from grading.site.student_makefile import EXCHANGE_RULES
from tests.lessons.lesson import COURSE

PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
BOOK = sorted(str(path.relative_to(COURSE)) for path in COURSE.glob("book/teachers/pages/*.md"))
WORKFLOWS = sorted((COURSE / ".github" / "workflows").glob("*.yml"))
[WORKFLOW] = [path for path in WORKFLOWS if path.stem == "test"]
PROJECT = tomllib.loads((COURSE / "pyproject.toml").read_text())["project"]


def page(name: str) -> str:
    return (COURSE / name).read_text()


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        *(("github-workflows", path) for path in WORKFLOWS),
        ("citation-file-format", COURSE / "CITATION.cff"),
    ],
)
def test_file_follows_its_published_schema(schema, file):
    command = ["check-jsonschema", "--builtin-schema", f"vendor.{schema}", str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_one_version_everywhere():
    assert yaml.safe_load(page("CITATION.cff"))["version"] == PROJECT["version"]
    released = re.findall(r"^## (\d\S*)", page("CHANGELOG.md"), re.MULTILINE)
    assert released[0] == PROJECT["version"]
    notebooks = [page(path) for path in COURSE.glob("notebooks/[0-9]*/*.ipynb")]
    stated = {version for text in notebooks for version in re.findall(r'"course_version": "(.*?)"', text)}
    assert stated == {PROJECT["version"]}, "make release"


def test_changelog_lines_say_what_they_changed():
    entries = re.findall(r"^- .*", page("CHANGELOG.md"), re.MULTILINE)
    assert entries
    assert not [entry for entry in entries if not re.match(r"- `(code|lesson):` ", entry)]


def test_workflow_runs_the_supported_pythons():
    jobs = yaml.safe_load(WORKFLOW.read_text())["jobs"]
    versions = [
        version
        for job in jobs.values()
        for version in job.get("strategy", {}).get("matrix", {}).get("python-version", [])
    ]
    assert {"3.11", "3.12", "3.13"} <= set(versions)
    assert all(version in SpecifierSet(PROJECT["requires-python"]) for version in versions)
    assert {"ubuntu-latest", "macos-latest"} <= {job["runs-on"] for job in jobs.values()}


def test_make_targets_exist():
    rules = page("Makefile") + EXCHANGE_RULES  # the README says what students type, too
    targets = set(re.findall(r"^([a-z]+):", rules, re.MULTILINE))
    texts = [*map(page, (*PAGES, *BOOK)), *(path.read_text() for path in WORKFLOWS)]
    named = {
        target
        for text in texts
        for target in re.findall(r"(?:^ +|`|- run: )make ([a-z]+)", text, re.MULTILINE)
    }
    assert named
    assert named <= targets


@pytest.mark.parametrize("name", PAGES)
def test_linked_and_named_files_exist(name):
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", page(name))
    paths = re.findall(r"`((?:course_utils|data_setup|tests|\.ci|\.make)/[\w./]*\w)`", page(name))
    missing = [path for path in [*links, *paths] if not (COURSE / path).exists()]
    assert not [path for path in missing if "reversed_labels" not in path]  # the example of CONTRIBUTING


def test_example_check_of_contributing_works():
    """The module under "Add an exercise" tells right from wrong, by the names that it gives."""
    source, *_ = re.findall(r"   ```python\n(.*?)   ```", page("CONTRIBUTING.md"), re.DOTALL)
    module = ModuleType("reversed_labels")
    exec(re.sub(r"^   ", "", source, flags=re.MULTILINE), vars(module))
    check = Check.from_module(module)
    assert "reverse order" in check(lambda labels: labels[::-1]).message
    assert mistake(check, sorted) == "not_reversed"
    assert mistake(check, lambda labels: labels[1:]) == "other_labels"


def mistake(check: Check, answer: object) -> str:
    with pytest.raises(CheckFailed) as failed:
        check(answer)
    return failed.value.mistake


def test_pages_say_who_wrote_the_course_and_whom_to_ask():
    citation = yaml.safe_load(page("CITATION.cff"))
    assert all(author.get("name") or author.get("family-names") for author in citation["authors"])
    readme = " ".join(page("README.md").split())
    assert "[CITATION.cff](CITATION.cff) who wrote the course" in readme
    for text in (readme, page("grading/site/student_readme.md")):
        assert "repository that you have cloned" in " ".join(text.split())
