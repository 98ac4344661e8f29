"""Bring the course's changes of the given `train.py` into the student's own, which git does not know."""

import subprocess
import tempfile
from pathlib import Path

from course_utils.system import create_atomically, write_atomically
from course_utils.train_script import given_in

SCRIPT = "notebooks/my_files/train.py"
PAGE = "course_utils/train_script/versions.md"  # holds the script as it is given


def update_script(clone: Path, before: str, after: str) -> str:
    """Merge what the course changed into the student's script; return a sentence, empty if nothing changed.

    Where both changed the same lines, or the result is no Python, the script stays as it is.

    Args:
        clone: The student's clone.
        before: The text of `PAGE` in the version that the student had.
        after: Its text in the new version.
    """
    script = clone / SCRIPT
    try:
        base, theirs, mine = given_in(before), given_in(after), script.read_text(encoding="utf-8")
    except (OSError, ValueError):  # one of the three is not there
        return ""
    if base == theirs:
        return ""
    merged = _merged(base, mine, theirs)
    if merged == mine:
        return ""
    if merged is None:
        return f"{SCRIPT}: yours, as it was; the course changed lines that you changed, too"
    kept = next(one for one in map(script.with_name, _names()) if not one.exists())
    create_atomically(kept, [mine.encode()])
    write_atomically(script, [merged.encode()])
    return f"{SCRIPT}: yours, with what the course changed; as it was: {kept.name}"


def _names() -> list[str]:
    return [f"train.before_update_{number}.py" for number in range(1, 1000)]


def _merged(base: str, mine: str, theirs: str) -> str | None:
    """Return the three merged by lines; None where they conflict."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("mine", "base", "theirs")]
        for file, text in zip(files, (mine, base, theirs), strict=True):
            file.write_text(text, encoding="utf-8")
        command = ["git", "merge-file", "--stdout", *map(str, files)]
        done = subprocess.run(command, check=False, capture_output=True, encoding="utf-8")
    if done.returncode:
        return None
    try:
        compile(done.stdout, SCRIPT, "exec")
    except (SyntaxError, ValueError):
        return None
    return done.stdout
