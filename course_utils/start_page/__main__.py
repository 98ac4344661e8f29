"""Show how far you are in the course: `python -m course_utils.start_page`."""

import argparse
import sys
from pathlib import Path

from course_utils.start_page.index_notebook import write_index
from course_utils.start_page.overview import course_overview


def main(arguments: list[str] | None = None) -> int:
    """Print how far the student is, or write the page."""
    parser = argparse.ArgumentParser(prog="python -m course_utils.start_page", description=__doc__)
    parser.add_argument(
        "folder", type=Path, nargs="?", help="folder with the lessons (default: notebooks, or here)"
    )
    parser.add_argument("--write", action="store_true", help="write the page into the folder, index.ipynb")
    options = parser.parse_args(arguments)
    folder = options.folder or (Path("notebooks") if Path("notebooks").is_dir() else Path.cwd())
    if not options.write:
        sys.stdout.write(f"{course_overview(folder)!r}\n")
        return 0
    try:
        write_index(folder)
    except OSError as error:
        sys.stderr.write(
            f"The start page was not written: {error}\n"
            "This shows the same: python -m course_utils.start_page\n"
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
