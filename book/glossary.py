"""The words of the field: a page that explains them, linked where a lesson uses each for the first time."""

import re
from pathlib import Path

# What no link may be put into: code, links and pictures, headings, HTML.
_PROTECTED = re.compile(
    r"(```.*?```|`[^`\n]+`|!?\[[^\]]*\]\([^)]*\)|^#+ .*?$|<math.*?</math>|<[^>\n]+>)",
    re.DOTALL | re.MULTILINE,
)
_ENTRY = re.compile(r"^(?P<term>\S.*)\n: ", re.MULTILINE)
_FORMS = re.compile(r"<!-- (?P<term>[^:]+): (?P<forms>.+) -->")


class Glossary:
    """The terms of the glossary and the forms in which texts use them.

    Args:
        page: The glossary in Markdown. A line `<!-- term: form, form -->` gives a term more forms than its
            plural.
    """

    def __init__(self, page: str) -> None:
        listed = page.partition("{.glossary}\n")[2]
        terms = [found["term"] for found in _ENTRY.finditer(listed)]
        more = {found["term"]: found["forms"].split(", ") for found in _FORMS.finditer(page)}
        self.forms = {form: term for term in terms for form in (term, f"{term}s", *more.get(term, ()))}

    @classmethod
    def read(cls, path: Path) -> "Glossary":
        """Read a glossary from its page."""
        return cls(path.read_text())

    def linker(self) -> "Linker":
        """Return what links the terms of one page, each once."""
        return Linker(self.forms)


class Linker:
    """Link each term once, where a page uses it first."""

    def __init__(self, forms: dict[str, str]) -> None:
        self._terms = {form.lower(): term for form, term in forms.items()}
        words = sorted(forms, key=len, reverse=True)
        any_word = "|".join(map(re.escape, words)) or "(?!)"
        self._pattern = re.compile(rf"(?<![\w-])({any_word})(?![\w-])", re.IGNORECASE)
        self._linked: set[str] = set()

    def link(self, markdown: str) -> str:
        """Return a part of the page with links to the glossary."""
        parts = _PROTECTED.split(markdown)
        parts[::2] = [self._pattern.sub(self._replace, part) for part in parts[::2]]
        return "".join(parts)

    def _replace(self, found: re.Match[str]) -> str:
        term = self._terms[found[1].lower()]
        if term in self._linked:
            return found[1]
        self._linked.add(term)
        return f"{{term}}`{found[1]} <{term}>`"
