"""Links that open a lesson elsewhere: on a JupyterHub, in Binder or in Colab. None needs a server of ours."""

from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from grading.site import deployment

BRANCH = "main"


@dataclass(frozen=True)
class OpenLinks:
    """Where lessons can be opened.

    Args:
        repository: Address of the students' repository (`make students`), such as
            `https://github.com/example/feeding-the-gpu-students`; empty where there is none.
        hub: Address of a JupyterHub with nbgitpuller; empty where there is none.
    """

    repository: str = ""
    hub: str = ""

    def of(self, lesson: str) -> str:
        """Return a line of Markdown with the links of a lesson; empty without a repository."""
        if not self.repository:
            return ""
        path = f"notebooks/{lesson}/{lesson}.ipynb"
        places = {
            "a JupyterHub": self._hub(f"{lesson}/{lesson}.ipynb"),
            "Binder": self._binder(path),
            "Colab": self._colab(path),
        }
        links = [f"[{place}]({address})" for place, address in places.items() if address]
        return (
            f"*Open this lesson in* {', '.join(links)}, or [on your own machine](../../run_it_yourself.md).\n"
        )

    def _hub(self, path: str) -> str:
        return deployment.students_link(self.hub, self.repository, path) if self.hub else ""

    def _binder(self, path: str) -> str:
        name = self._github()
        return f"https://mybinder.org/v2/gh/{name}/{BRANCH}?labpath={quote(path, safe='')}" if name else ""

    def _colab(self, path: str) -> str:
        name = self._github()
        return f"https://colab.research.google.com/github/{name}/blob/{BRANCH}/{path}" if name else ""

    def _github(self) -> str:
        """Return owner and name of the repository; empty if it is not on GitHub, the only host of Colab."""
        parts = urlsplit(self.repository)
        return parts.path.strip("/").removesuffix(".git") if parts.netloc == "github.com" else ""
