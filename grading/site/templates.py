"""The configuration files of a deployed course."""

import json
import re
from pathlib import Path

from course_utils.update.repository import merge_driver

STUDENT_EXTENSIONS_OFF = ("formgrader", "create-assignment", "course-list")
LAPTOP_EXTENSIONS_OFF = (*STUDENT_EXTENSIONS_OFF, "assignment-list")  # there is no exchange
TEACHER_EXTENSIONS_OFF = ("course-list",)
# A second defence behind the sanitised notebooks: what students wrote loads no picture from elsewhere.
TEACHER_POLICY = "; img-src 'self' data: blob:; object-src 'none'; base-uri 'self'; form-action 'self'"
# The name that released notebooks ask for: servers of the course's environment have no other kernel.
KERNEL = "python3"

_HUB = '''"""A JupyterHub for this course. Administrators: copy from here what your Hub lacks.

It starts all servers from the course's environment, with the Jupyter configuration of the user's role.
Authenticator and proxy stay your own.
"""

TEACHER_DIR = {root!r}
COURSE = {course_id!r}
TEACHERS = {teachers!r}

c = get_config()  # noqa: F821 - JupyterHub defines it

c.JupyterHub.load_groups = {{f"formgrade-{{COURSE}}": {{"users": TEACHERS}}}}
# Everybody with an account here; to admit fewer, set allowed_users or the authenticator's own groups instead.
c.Authenticator.allow_all = True
c.Spawner.cmd = [f"{{TEACHER_DIR}}/env/bin/jupyterhub-singleuser"]
c.Spawner.default_url = "/lab"


def configure_role(spawner):
    """Set the environment of the user's role."""
    role = "teacher" if spawner.user.name in TEACHERS else "student"
    spawner.environment |= {{
        "TEACHER_DIR": TEACHER_DIR,
        "PATH": f"{{TEACHER_DIR}}/env/bin:/usr/local/bin:/usr/bin:/bin",
        "JUPYTER_CONFIG_PATH": f"{{TEACHER_DIR}}/jupyter/{{role}}",
        "JUPYTER_PATH": f"{{TEACHER_DIR}}/jupyter",
        # nbgitpuller merges a new version of the course into a student's notebooks cell by cell.
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "merge.notebook.driver",
        "GIT_CONFIG_VALUE_0": {driver!r},
    }}
    if role == "teacher":
        # The formgrader needs a course folder below the server's root.
        spawner.notebook_dir = TEACHER_DIR


c.Spawner.pre_spawn_hook = configure_role
'''

# Commands find lessons and exchange from the clone's folder, and `__file__` is this configuration.
_CLONE = """from pathlib import Path

{settings}
c.CourseDirectory.course_id = {course_id!r}
c.Exchange.assignment_dir = str(Path(__file__).with_name("notebooks"))
"""

_STUDENT = """{settings}
c.CourseDirectory.course_id = {course_id!r}
c.Exchange.root = {exchange!r}
"""

_TEACHER = """c = get_config()  # noqa: F821 - nbgrader defines it

load_subconfig("nbgrader_config.py", path={course!r})  # noqa: F821 - traitlets defines it
c.CourseDirectory.root = {course!r}
c.Exchange.root = {exchange!r}
"""

_NEWS_OFF = '{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}'


def course_id(course: Path) -> str:
    """Return the course id in a course's `nbgrader_config.py`.

    Raises:
        ValueError: The file sets none.
    """
    path = course / "nbgrader_config.py"
    if not (found := re.search(r'course_id = "([^"]+)"', path.read_text())):
        raise ValueError(f"{path} does not set c.CourseDirectory.course_id")
    return found[1]


def student_settings(course: Path) -> str:
    """Return what a student's `nbgrader_config.py` needs of the course's.

    Validate takes what grading takes, and the commands of the exchange stop where there is none.
    """
    lines = (course / "nbgrader_config.py").read_text().splitlines()
    wanted = ("from ", "c = get_config", "c.Execute.", "c.ExchangeFactory.")
    kept = [line for line in lines if line.startswith(wanted) and "grading" not in line]
    return "".join(f"{line}\n" for line in kept)


def clone_settings(course: Path, exchange: str) -> str:
    """Return the `nbgrader_config.py` of a student's clone.

    Args:
        course: The course.
        exchange: The folder of nbgrader's exchange; empty for none, or that of a site.
    """
    text = _CLONE.format(settings=student_settings(course), course_id=course_id(course))
    return f"{text}c.Exchange.root = {exchange!r}\n" if exchange else text


def render(root: Path, course: Path, teachers: tuple[str, ...]) -> dict[str, str]:
    """Return the content of each file, by its path below `root`."""
    values = {
        "root": str(root),
        "course": str(course),
        "course_id": course_id(course),
        "exchange": str(root / "exchange"),
        "teachers": list(teachers),
        "settings": student_settings(course),
        "driver": merge_driver(str(root / "env" / "bin" / "python")),
    }
    return {
        "jupyterhub_config.py": _HUB.format(**values),
        "jupyter/student/nbgrader_config.py": _STUDENT.format(**values),
        "jupyter/teacher/nbgrader_config.py": _TEACHER.format(**values),
        "jupyter/student/jupyter_server_config.json": _server_config(("formgrader", "course_list")),
        "jupyter/teacher/jupyter_server_config.json": _server_config(("course_list",), TEACHER_POLICY),
        "jupyter/student/labconfig/page_config.json": page_config(STUDENT_EXTENSIONS_OFF),
        "jupyter/teacher/labconfig/page_config.json": page_config(TEACHER_EXTENSIONS_OFF),
        "jupyter/student/labconfig/default_setting_overrides.json": _NEWS_OFF,
        "jupyter/teacher/labconfig/default_setting_overrides.json": _NEWS_OFF,
        f"jupyter/kernels/{KERNEL}/kernel.json": _kernel_spec(root),
    }


def _server_config(off: tuple[str, ...], more_policy: str = "") -> str:
    """Disable server extensions, and let JupyterLab show the formgrader in a frame."""
    policy = {"headers": {"Content-Security-Policy": f"frame-ancestors 'self'{more_policy}"}}
    extensions = {f"nbgrader.server_extensions.{name}": False for name in off}
    settings = {"tornado_settings": policy, "jpserver_extensions": extensions}
    return json.dumps({"ServerApp": settings}, indent=1)


def page_config(off: tuple[str, ...]) -> str:
    """Disable extensions of nbgrader in JupyterLab."""
    return json.dumps({"disabledExtensions": {f"@jupyter/nbgrader:{name}": True for name in off}}, indent=1)


def _kernel_spec(root: Path) -> str:
    python = str(root / "env" / "bin" / "python")
    kernel = {
        "argv": [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Feeding the GPU",
        "language": "python",
        # A module that the Hub or the user has loaded may set PYTHONPATH, for another Python.
        "env": {"TEACHER_DIR": str(root), "PYTHONPATH": ""},
    }
    return json.dumps(kernel, indent=1)
