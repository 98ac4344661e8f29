"""Links in the lessons work in JupyterLab, for students and in the book; first uses are linked."""

import re
import sys
from functools import cache
from pathlib import Path

import pytest

from book.room_pages import room_names
from course_utils.start_page import INDEX, without_links
from grading.links.glossary import PAGE, Glossary
from grading.links.package_names import PackageNames
from grading.site import student_repository
from tests.lessons.lesson import COURSE, LESSONS, OPTIONAL, Lesson, code_cells, read

LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]*)\)")
ENTRY = re.compile(r"- \[[^\]]+\]\(https://\S+\): \S.*\.")
NO_TEXT = re.compile(
    r"```.*?```|^#+ .*?$|<summary>.*?</summary>|<[^>\n]+>|\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL | re.MULTILINE
)
WITHOUT_TLS = {"http://www.lmdb.tech/doc/"}
READING_LISTS = {"00_input_pipeline", "01_jpeg_vs_zip"}
GLOSSARY = Glossary.read(COURSE / "solutions" / PAGE)
# Libraries of which a text speaks by another name.
CALLED = {"PIL": "Pillow", "matplotlib": "Matplotlib", "numpy": "NumPy", "torch": "PyTorch"}


def texts(path: Path) -> list[str]:
    return [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]


def code(lesson: Lesson) -> str:
    return "\n".join(cell.source for cell in code_cells(read(lesson.release)))


def links(lesson: Lesson) -> list[tuple[str, str]]:
    return [link for text in texts(lesson.release) for link in LINK.findall(text)]


def test_links_of_authors_lead_to_pages_or_to_files_of_the_lesson(lesson: Lesson):
    for text in texts(lesson.solution):
        for title, target in LINK.findall(text):
            if target.startswith("http"):
                assert re.fullmatch(r"https://[\w.-]+\.[a-z]+(/\S*)?", target) or target in WITHOUT_TLS, (
                    target
                )
                assert title, target
            else:
                assert (lesson.solution.parent / target).is_file(), target


@pytest.mark.parametrize("name", sorted(READING_LISTS))
def test_reading_list_has_entries_with_a_reason(name: str):
    [reading] = [text for text in texts(Lesson(name).solution) if "**Further reading**" in text]
    listed = reading.partition("**Further reading**")[2].splitlines()
    entries = [line for line in listed if line.startswith("- ")]
    assert len(entries) >= 3
    assert all(ENTRY.fullmatch(entry) for entry in entries), entries


@cache
def given_to_students() -> set[str]:
    """The files of the students' repository, which lie there as they lie here."""
    return set(student_repository._tracked(COURSE, *student_repository.SHARED))


def test_links_to_files_work_in_a_clone_of_students(lesson: Lesson):
    local = {target.partition("#")[0] for _, target in links(lesson) if not target.startswith("http")}
    assert {f"../{PAGE}"} < local
    for target in local - {f"../{INDEX}"}:  # which `make lab` writes
        path = (lesson.release.parent / target).resolve()
        assert path.is_file(), target
        assert str(path.relative_to(COURSE)) in given_to_students(), target


def test_links_to_sources_have_a_page_in_the_book(lesson: Lesson):
    names = PackageNames(code(lesson))
    sources = [text for text, target in links(lesson) if target.startswith("../../course_utils/")]
    assert sources
    for text in sources:
        place = names.place(text.strip("`"))
        assert place is not None, text
        assert place.room in room_names(COURSE), text


def test_links_to_terms_name_a_heading_of_the_glossary(lesson: Lesson):
    anchors = [target.partition("#")[2] for _, target in links(lesson) if target.startswith(f"../{PAGE}")]
    assert anchors
    assert set(anchors) <= {term.replace(" ", "-") for term in GLOSSARY.terms}
    assert len(set(anchors)) == len(anchors), "each term is linked once"


def test_first_uses_of_terms_and_programs_are_linked(lesson: Lesson):
    """What stands before the link of a name, or anywhere without one, does not hold the name."""
    text = NO_TEXT.sub("", "\n\n".join(texts(lesson.release)))
    plain = re.sub(r"`[^`\n]+`|https?://[^\0\s]+(?=\s)", "", LINK.sub("\0\\g<target>\0", text))
    for forms, flags in ((GLOSSARY.words, re.IGNORECASE), (GLOSSARY.names, re.NOFLAG)):
        any_form = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
        for found in re.finditer(rf"\0[^\0]*\0|(?<![\w-])({any_form})(?![\w-])", plain, flags):
            if found[1]:
                target = forms[found[1].lower() if flags else found[1]].target
                assert f"\0{target}\0" in plain[: found.start()], found[1]


def test_release_adds_only_links_to_the_texts(lesson: Lesson):
    kept = [cell for cell in read(lesson.solution).cells if "answer" not in cell.metadata.get("tags", ())]
    written = [LINK.sub(r"\1", cell.source) for cell in kept if cell.cell_type == "markdown"]
    released = [without_links(text) for text in texts(lesson.release)]
    assert [LINK.sub(r"\1", text) for text in released] == written


def test_every_name_of_the_package_that_a_text_mentions_is_a_link(lesson: Lesson):
    names = PackageNames(code(lesson))
    spans = re.findall(r"`([^`\n]+)`", NO_TEXT.sub("", "\n\n".join(texts(lesson.release))))
    mentioned = {place for place in map(names.place, spans) if place}
    linked = {names.place(text.strip("`")) for text, target in links(lesson) if "course_utils" in target}
    assert mentioned <= linked


def test_every_program_of_the_glossary_is_named_in_a_lesson():
    named = {target for lesson in (*LESSONS, *OPTIONAL) for _, target in links(lesson)}
    assert not {entry.name for entry in GLOSSARY.names.values() if entry.target not in named}


def test_libraries_that_lessons_import_are_in_the_glossary():
    imported = {
        name
        for lesson in LESSONS
        for name in re.findall(r"^(?:import|from) (\w+)", code(lesson), re.MULTILINE)
        if name not in {*sys.stdlib_module_names, "course_utils", "IPython"}
    }
    assert {CALLED.get(name, name) for name in imported} <= set(GLOSSARY.names)


def test_terms_are_in_alphabetical_order():
    assert len(GLOSSARY.terms) > 30
    assert sorted(GLOSSARY.terms, key=str.lower) == GLOSSARY.terms
