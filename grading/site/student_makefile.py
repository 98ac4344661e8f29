"""The Makefile of the students' repository: the rules of the course's that a student needs, and two more."""

import re
from pathlib import Path

TARGETS = ("help", "lab", "options", "serve", "data", "update", "packages", "clean")
EXCHANGE_RULES = """\
submit: $(READY)  ## hand in a lesson; the last submission counts (LESSON=01)
	@$(RUN) python -m course_utils.exchange submit "$(LESSON)"

feedback: $(READY)  ## the feedback on a lesson that you handed in (LESSON=01)
	@$(RUN) python -m course_utils.exchange feedback "$(LESSON)"
"""


def student_makefile(makefile: str, site: Path | None = None) -> str:
    """Return the students' Makefile.

    Args:
        makefile: The course's Makefile.
        site: The folder of a site, whose environment is used; None for clones that install their own.
    """
    head, rules = makefile.split("\n\nhelp:", 1)
    blocks = f"help:{rules}".split("\n\n")
    blocks[0] = re.sub(r"\n\t@echo \"Pages: .*", "", blocks[0])  # students have no such folders
    targets = TARGETS if site else (*TARGETS, r"\$\(READY\)")
    if site:
        settings = f"VENV    ?= {site}/env\nexport TEACHER_DIR ?= {site}\nunexport PYTHONPATH".replace(
            "$", "$$"
        )
        head = re.sub(r"^VENV .*", lambda _: settings, head, flags=re.MULTILINE)
    wanted = re.compile(rf"^({'|'.join(targets)}):", re.MULTILINE)
    phony = f".PHONY: {' '.join(TARGETS)} submit feedback"
    head = re.sub(r"^\.PHONY:.*", phony, head, flags=re.MULTILINE)
    return "\n\n".join([head, *filter(wanted.search, blocks), EXCHANGE_RULES])
