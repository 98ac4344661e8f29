"""The teacher's course folder on a site: a clone that follows the version checked out in the source."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from grading.site.commands import DeployError, run


def update_course_folder(source: Path, course: Path) -> Iterator[str]:
    """Clone the course into its folder, or bring the folder to the version of the source.

    Submissions, marks and the gradebook, which git ignores, stay.

    Raises:
        DeployError: The folder has changes that an update would lose.
    """
    if course.resolve() == source.resolve():
        return
    if not (course / ".git").exists():
        run("git", "clone", "--quiet", source, course)
        yield f"cloned the course into {course}"
    elif _head(course) != _head(source):
        if edited := run("git", "-C", course, "diff", "--name-only", "HEAD").split():
            raise DeployError(
                f"{course} has edited files ({', '.join(edited[:5])}): commit them in {source} and undo them "
                f"here, or deploy this folder itself: --source {course}"
            )
        run("git", "-C", course, "fetch", "--quiet", source, "HEAD")
        here, there = _head(course), _head(source)
        if run("git", "-C", course, "merge-base", here, there).strip() not in (here, there):
            raise DeployError(f"{course} has commits that {source} lacks: pull them there first")
        run("git", "-C", course, "reset", "--quiet", "--keep", there)
        # The fetch brings no tags.
        yield f"updated {course} to {run('git', '-C', source, 'describe', '--tags', '--always').strip()}"


def revision(source: Path) -> str:
    """Return what names the state of a clone: its commit, and a digest of what was edited since."""
    edited = run("git", "-C", source, "diff", "HEAD")
    return f"{_head(source)} {hashlib.sha256(edited.encode()).hexdigest()[:16] if edited else ''}".strip()


def _head(folder: Path) -> str:
    return run("git", "-C", folder, "rev-parse", "HEAD").strip()
