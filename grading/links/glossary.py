"""The glossary of the lessons: `solutions/glossary.md`, which students get as `notebooks/glossary.md`."""

import re
from pathlib import Path

from grading.links.linker import Entry

PAGE = "glossary.md"
_TERM = re.compile(r"^### (?P<term>.+)$", re.MULTILINE)
_PROGRAM = re.compile(r"^- \[(?P<name>[^\]]+)\]\((?P<address>https://\S+)\): \S", re.MULTILINE)
_FORMS = re.compile(r"<!-- (?P<name>[^:]+): (?P<forms>.+) -->")


class Glossary:
    """The terms of a glossary, the programs that it lists, and the forms in which texts use their names.

    A heading of the third level is a term; in code, it is also linked where a text writes it as code. An
    entry `- [name](address): what it is` is a program; a name in lower case is also linked in code. A line
    `<!-- name: form, form -->` gives either more forms; a term's plural in -s is one by itself.

    Args:
        page: The glossary in Markdown.
    """

    def __init__(self, page: str) -> None:
        more = {found["name"]: found["forms"].split(", ") for found in _FORMS.finditer(page)}
        headings = [found["term"] for found in _TERM.finditer(page)]
        self.terms = [heading.strip("`") for heading in headings]
        programs = {
            found["name"]: Entry(found["name"], found["address"]) for found in _PROGRAM.finditer(page)
        }
        self.words = {
            form.lower(): Entry(term, f"../{PAGE}#{term.replace(' ', '-')}")
            for term in self.terms
            for form in (term, f"{term}s", *more.get(term, ()))
        }
        self.names = {form: entry for name, entry in programs.items() for form in (name, *more.get(name, ()))}
        terms_in_code = (heading.strip("`") for heading in headings if heading.startswith("`"))
        # Code with a capital, such as `ImageNet`, is a class and not the program.
        commands = {form: entry for form, entry in self.names.items() if form.islower()}
        self._code = commands | {term: self.words[term.lower()] for term in terms_in_code}

    @classmethod
    def read(cls, path: Path) -> "Glossary":
        """Read a glossary from its page; without one it is empty."""
        return cls(path.read_text() if path.is_file() else "")

    def code(self, span: str) -> Entry | None:
        """Return the entry of a name that a text writes as code."""
        return self._code.get(span)
