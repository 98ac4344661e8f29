"""Run Python as a user without privileges, in tests that root runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NOBODY = 65534
ROOT = Path(__file__).parents[2]
# Python may lie in root's home: show that part of it, in a mount namespace of its own.
SHOW = """
set -e
mkdir -m 755 "$2/outside"
mount --bind "$1" "$2/outside"
mount -t tmpfs -o mode=755 tmpfs "$1"
for part in $3; do mkdir -p "$1/$part"; mount --bind "$2/outside/$part" "$1/$part"; done
"""
BECOME = f"exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups --no-new-privs -- "


def missing() -> str:
    """Return why this machine cannot do it, or ''."""
    if os.geteuid() != 0:
        return "only root can become another user"
    absent = [name for name in ("unshare", "setpriv", "mount") if shutil.which(name) is None]
    return f"not installed: {absent}" if absent else ""


def run_as_ordinary_user(code: str, scratch: Path, before: str = "true") -> subprocess.CompletedProcess[str]:
    """Run a Python program as a user without privileges, who sees this checkout and this environment.

    Args:
        code: The program.
        scratch: An empty folder of this test.
        before: A command that root runs first, in a mount namespace of its own.
    """
    home = Path("/root")
    folders = {Path(sys.prefix), Path(sys.base_prefix), ROOT}
    parts = " ".join(str(path.relative_to(home)) for path in folders if path.is_relative_to(home))
    show = SHOW if parts else ""
    command = f'{before}\n{show}\n{BECOME} "$4" -c "$5"'
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", command, "sh", home, scratch, parts, sys.executable, code],
        cwd="/tmp",
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
