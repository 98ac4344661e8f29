import warnings

import pytest

from data_setup.tokens.docstrings import docstrings_in, docstrings_of
from data_setup.tokens.text_sources import SOURCES, TextSource

SOURCE = '''"""The docstring of a module."""

def function():
    """The docstring of a function."""
    if True:
        class Inner:
            """The docstring of a class,

            with a second paragraph."""
    try:
        pass
    except OSError:
        async def handle():
            """The docstring of a handler."""

def short():
    """Too short."""

TEXT = """This is a text, but not a docstring."""
'''


def test_docstrings_of_modules_classes_and_functions_are_found(tmp_path):
    file = tmp_path / "file.py"
    file.write_text(SOURCE)
    assert docstrings_in(file) == [
        "The docstring of a module.",
        "The docstring of a function.",
        "The docstring of a class,\n\nwith a second paragraph.",
        "The docstring of a handler.",
    ]


@pytest.mark.parametrize(
    "content", [b"def broken(:\n", b"\0", b'# coding: none\n"""A text of many characters."""\n']
)
def test_file_that_cannot_be_parsed_has_no_docstrings(tmp_path, content):
    file = tmp_path / "file.py"
    file.write_bytes(content)
    assert docstrings_in(file) == []


def test_nothing_is_imported_and_no_warning_appears(tmp_path):
    file = tmp_path / "file.py"
    file.write_text('"""The docstring of a module."""\nraise SystemExit("\\d")\n')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert docstrings_in(file) == ["The docstring of a module."]


def test_any_number_of_workers_finds_the_same_in_the_same_order(tmp_path):
    files = [tmp_path / f"{number}.py" for number in range(40)]
    for number, file in enumerate(files):
        file.write_text(f'"""The docstring of module {number}."""\n')
    assert docstrings_of(files, 1) == docstrings_of(files, 2)


def test_files_are_sorted_and_leave_out_tests_and_internals(tmp_path, monkeypatch):
    for name in ("b.py", "a/z.py", "a/tests/t.py", "_private/p.py", "_file.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr(TextSource, "_folder", lambda source: tmp_path)
    found = {
        private: [str(path.relative_to(tmp_path)) for path in TextSource("", "", "", "", private).files()]
        for private in (True, False)
    }
    assert found == {
        True: ["_file.py", "_private/p.py", "a/z.py", "b.py"],
        False: ["_file.py", "a/z.py", "b.py"],
    }


def test_every_source_is_installed():
    assert all(len(source.files()) > 100 for source in SOURCES)
