"""Build the one file: `python -m course_utils.diagnosis.archive build/diagnosis.pyz`."""

import shutil
import sys
import tempfile
import zipapp
from pathlib import Path

START = "import sys\nfrom course_utils.diagnosis.command import main\nsys.exit(main(sys.argv[1:]))\n"


def build(target: Path) -> Path:
    """Pack this package, which needs nothing but torch and NumPy, into a file that Python runs.

    Args:
        target: The file, which is replaced.
    """
    package = Path(__file__).parent
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        inside = root / "course_utils"
        ignored = shutil.ignore_patterns("__pycache__", "archive.py")
        shutil.copytree(package, inside / "diagnosis", ignore=ignored)
        shutil.copy(package.parent / "__init__.py", inside)
        (root / "__main__.py").write_text(START)
        target.parent.mkdir(parents=True, exist_ok=True)
        zipapp.create_archive(root, target, interpreter="/usr/bin/env python3", compressed=True)
    return target


if __name__ == "__main__":
    sys.stdout.write(f"{build(Path(sys.argv[1]))}\n")
