"""What a deployment is: its folder, its source, and the link that students open."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from course_utils.start_page import INDEX


@dataclass(frozen=True)
class Site:
    """A deployed course and its source.

    Args:
        root: The folder on the shared file system (``TEACHER_DIR``).
        source: A clone of the course's repository.
        python: The Python of the environment; every account must be able to run it.
        hub: The Hub's address, for the students' link.
        repository: Address of a git repository with the released notebooks, for the students' link.
        teachers: Account names.
        packages: A folder that `make packages` has filled, to install from without network.
    """

    root: Path
    source: Path
    python: Path
    hub: str = ""
    repository: str = ""
    teachers: tuple[str, ...] = ()
    packages: Path | None = None

    @property
    def own_python(self) -> Path:
        """The Python of a site that has its own."""
        return self.root / "python" / "bin" / "python3"

    @property
    def exchange(self) -> Path:
        """Where students hand in, and feedback is returned."""
        return self.root / "exchange"

    @property
    def students(self) -> Path:
        """The repository for students, which use the environment here."""
        return self.root / "students"

    @property
    def bundle(self) -> Path:
        """That repository in one file, from which students clone."""
        return self.root / "students.bundle"

    @property
    def start(self) -> Path:
        """The command that students type."""
        return self.root / "start"

    @property
    def environment(self) -> Path:
        """The environment that all accounts use."""
        return self.root / "env"

    @property
    def course(self) -> Path:
        """The teacher's folder: sources, submissions, gradebook."""
        return self.root / "course"

    def link(self, lesson: str = "") -> str:
        """Return the address that pulls the notebooks and opens them in JupyterLab, for students."""
        return students_link(self.hub, self.repository, lesson)


def students_link(hub: str, repository: str, lesson: str = "") -> str:
    """Return the address at which a Hub pulls a repository with nbgitpuller and opens a lesson of it.

    Without a lesson, it opens the start page.
    """
    name = Path(repository).name.removesuffix(".git")
    path = f"lab/tree/{name}/notebooks/{lesson or INDEX}"
    query = urlencode({"repo": repository, "targetpath": name, "urlpath": path})
    return f"{hub.rstrip('/')}/hub/user-redirect/git-pull?{query}"
