"""What students of a site type and clone: the command `start`, and a bundle of their repository.

Nothing here needs administrators: `start` writes below a student's home folder alone. It clones from
a bundle, a single file, because git refuses to read a repository that another account owns.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path

from grading.site.commands import run
from grading.site.deployment import Site
from grading.site.student_repository import write_student_repository
from grading.site.templates import KERNEL, course_id

START = Path(__file__).with_name("student_start.sh")


def publish_to_students(site: Site) -> Iterator[str]:
    """Write the students' repository, its bundle and `start`; the repository is as new as the course folder.

    Raises:
        StudentRepositoryError: The repository cannot be written.
    """
    name = course_id(site.course)
    told = write_student_repository(site.course, site.students, str(site.exchange), site.root)
    if _head(site.bundle) != run("git", "-C", site.students, "rev-parse", "HEAD").strip():
        run("git", "-C", site.students, "bundle", "create", site.bundle, "HEAD", "main")
        site.bundle.chmod(0o644)
        yield told
    text = START.read_text().replace("{folder}", shlex.quote(str(site.root))).replace("{name}", name)
    text = text.replace("{kernel}", KERNEL)
    if not site.start.is_file() or site.start.read_text() != text:
        site.start.write_text(text)
        yield f"wrote {site.start}"
    site.start.chmod(0o755)


def _head(bundle: Path) -> str:
    """Return the commit of the branch in a bundle; empty if there is none."""
    if not bundle.is_file():
        return ""
    return run("git", "bundle", "list-heads", bundle, "refs/heads/main").partition(" ")[0]
