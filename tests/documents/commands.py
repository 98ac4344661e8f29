"""The commands that the documents tell a reader to type: indented blocks, and fenced ones of a shell."""

import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

SHELLS = {"bash", "console", "sh", "shell"}
COMMENT = re.compile(r"(?:^|\s+)#.*$", re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """A command of a document, without the comment beside it; `line` is that of its block."""

    page: str
    line: int
    text: str


def commands(path: Path, name: str) -> list[Command]:
    """Return the commands of a page, in order."""
    found = []
    for token in MarkdownIt().parse(path.read_text()):
        if token.type == "code_block" or (token.type == "fence" and token.info.strip() in SHELLS):
            lines = token.content.replace("\\\n", "").splitlines()
            texts = [COMMENT.sub("", line).strip() for line in lines]
            found += [Command(name, (token.map or [0])[0] + 1, " ".join(one.split())) for one in texts if one]
    return found
