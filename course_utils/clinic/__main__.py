"""Run the diagnosis on a script of the clinic."""

import argparse
import subprocess
import sys

from course_utils.clinic.ward import patients


def main() -> int:
    """Parse the command line, and run the diagnosis as a student does."""
    parser = argparse.ArgumentParser(prog="python -m course_utils.clinic", description=__doc__)
    parser.add_argument("letter", choices=sorted(patients()), help="which script")
    script = patients()[parser.parse_args().letter].path
    return subprocess.run(
        [sys.executable, "-m", "course_utils.diagnosis", script.name], cwd=script.parent
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
