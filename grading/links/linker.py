"""Links each name once, where a lesson uses it first. Authors write names; no link is written by hand."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

# What stays as it is: code blocks, headings, formulas, the line that opens an answer, HTML, addresses.
_KEPT = (
    r"```.*?```|^#+ .*?$|\$\$.*?\$\$|\$[^$\n]+\$|<summary>.*?</summary>|<[^>\n]+>|https?://\S+"
    r"|(?<!`)``[^`].*?``"
)
_LINK = r"!?\[[^\]]*\]\((?P<target>[^)]*)\)"
_CODE = r"`(?P<code>[^`\n]+)`"


class Entry(NamedTuple):
    """What a name leads to.

    Attributes:
        name: The name under which all its forms count as one.
        target: An address, or a path relative to the lesson's folder.
    """

    name: str
    target: str


class Linker:
    """Links the names of one lesson, whose texts it gets in their order.

    Args:
        words: Entries by the words of a text, in lower case; the text may write them in capitals.
        names: Entries by names that a text writes exactly so.
        code: Returns the entry of a piece of code in a text, or None.
    """

    def __init__(
        self, words: Mapping[str, Entry], names: Mapping[str, Entry], code: Callable[[str], Entry | None]
    ) -> None:
        self._words, self._names, self._code = words, names, code
        self._linked: set[str] = set()
        forms = {form: rf"(?i:{re.escape(form)})" for form in words} | {
            form: re.escape(form) for form in names
        }
        longest_first = sorted(forms, key=len, reverse=True)
        any_form = "|".join(forms[form] for form in longest_first) or "(?!)"
        word = rf"(?<![\w-])(?P<word>{any_form})(?![\w-])"
        self._pattern = re.compile(rf"(?:{_KEPT})|{_LINK}|{_CODE}|{word}", re.DOTALL | re.MULTILINE)

    def link(self, markdown: str) -> str:
        """Return a text of the lesson with links."""
        return self._pattern.sub(self._replace, markdown)

    def _replace(self, found: re.Match[str]) -> str:
        if found["target"]:
            self._linked |= {entry.name for entry in self._entries() if entry.target == found["target"]}
            return found[0]
        entry = None
        if found["code"]:
            entry = self._code(found["code"])
        elif found["word"]:
            entry = self._names.get(found["word"]) or self._words.get(found["word"].lower())
        if entry is None or entry.name in self._linked:
            return found[0]
        self._linked.add(entry.name)
        return f"[{found[0]}]({entry.target})"

    def _entries(self) -> tuple[Entry, ...]:
        return (*self._words.values(), *self._names.values())
