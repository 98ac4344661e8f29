"""The configuration files of a course on a JupyterHub, as texts: what `site` writes."""

import json
import re
from pathlib import Path

STUDENT_EXTENSIONS_OFF = ("formgrader", "create-assignment", "course-list")
TEACHER_EXTENSIONS_OFF = ("course-list",)
KERNEL = "feeding-the-gpu"

_HUB = '''"""A JupyterHub for this course. Administrators: copy from here what your Hub does not have yet.

It runs each person's server from the course's environment, and gives teachers and students the Jupyter
configuration of their role. The authenticator and the proxy stay your own.
"""

TEACHER_DIR = {root!r}
COURSE = {course_id!r}
TEACHERS = {teachers!r}

c = get_config()  # noqa: F821 - JupyterHub defines it

c.JupyterHub.load_groups = {{f"formgrade-{{COURSE}}": {{"users": TEACHERS}}}}
c.Authenticator.allowed_users = set(TEACHERS)
c.Spawner.cmd = [f"{{TEACHER_DIR}}/env/bin/jupyterhub-singleuser"]
c.Spawner.default_url = "/lab"


def give_role(spawner):
    """Choose the configuration of the person's role."""
    role = "teacher" if spawner.user.name in TEACHERS else "student"
    spawner.environment |= {{
        "TEACHER_DIR": TEACHER_DIR,
        "PATH": f"{{TEACHER_DIR}}/env/bin:/usr/local/bin:/usr/bin:/bin",
        "JUPYTER_CONFIG_PATH": f"{{TEACHER_DIR}}/jupyter/{{role}}",
        "JUPYTER_PATH": f"{{TEACHER_DIR}}/jupyter",
    }}
    if role == "teacher":
        # The formgrader shows only a course folder that lies below the server's root.
        spawner.notebook_dir = TEACHER_DIR


c.Spawner.pre_spawn_hook = give_role
'''

_STUDENT = """c = get_config()  # noqa: F821 - nbgrader defines it

c.CourseDirectory.course_id = {course_id!r}
c.Exchange.root = {exchange!r}
"""

_TEACHER = """c = get_config()  # noqa: F821 - nbgrader defines it

load_subconfig("nbgrader_config.py", path={course!r})  # noqa: F821 - traitlets defines it
c.CourseDirectory.root = {course!r}
c.Exchange.root = {exchange!r}
"""

_NO_NEWS = '{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}'


def course_id(course: Path) -> str:
    """The course's name, as its `nbgrader_config.py` states it."""
    text = (course / "nbgrader_config.py").read_text()
    return re.search(r'course_id = "([^"]+)"', text)[1]


def texts(root: Path, course: Path, teachers: tuple[str, ...]) -> dict[str, str]:
    """Path below `root` and content of each file."""
    values = {
        "root": str(root),
        "course": str(course),
        "course_id": course_id(course),
        "exchange": str(root / "exchange"),
        "teachers": list(teachers),
    }
    return {
        "jupyterhub_config.py": _HUB.format(**values),
        "jupyter/student/nbgrader_config.py": _STUDENT.format(**values),
        "jupyter/teacher/nbgrader_config.py": _TEACHER.format(**values),
        "jupyter/student/jupyter_server_config.json": _server(("formgrader", "course_list")),
        "jupyter/teacher/jupyter_server_config.json": _server(("course_list",)),
        "jupyter/student/labconfig/page_config.json": _pages(STUDENT_EXTENSIONS_OFF),
        "jupyter/teacher/labconfig/page_config.json": _pages(TEACHER_EXTENSIONS_OFF),
        "jupyter/student/labconfig/default_setting_overrides.json": _NO_NEWS,
        "jupyter/teacher/labconfig/default_setting_overrides.json": _NO_NEWS,
        f"jupyter/kernels/{KERNEL}/kernel.json": _kernel(root),
    }


def _server(off: tuple[str, ...]) -> str:
    """Server extensions to leave out, and a frame policy under which JupyterLab may show the formgrader."""
    policy = {"headers": {"Content-Security-Policy": "frame-ancestors 'self'"}}
    extensions = {f"nbgrader.server_extensions.{name}": False for name in off}
    settings = {"tornado_settings": policy, "jpserver_extensions": extensions}
    return json.dumps({"ServerApp": settings}, indent=1)


def _pages(off: tuple[str, ...]) -> str:
    return json.dumps({"disabledExtensions": {f"@jupyter/nbgrader:{name}": True for name in off}}, indent=1)


def _kernel(root: Path) -> str:
    python = str(root / "env" / "bin" / "python")
    kernel = {
        "argv": [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Feeding the GPU",
        "language": "python",
        "env": {"TEACHER_DIR": str(root)},
    }
    return json.dumps(kernel, indent=1)
