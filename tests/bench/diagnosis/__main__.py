"""What the diagnosis costs, and a picture of a report: `python -m tests.bench.diagnosis [--picture]`.

Target: an epoch of 1,000 samples a second takes at most 3 % longer.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

from tests.bench.diagnosis.picture import draw
from tests.bench.recording.environment import environment
from tests.lessons.lesson import COURSE

REPEATS = 5
RECORD = Path(__file__).parents[1] / "diagnosis.json"
SCRIPT = "tests/bench/diagnosis/epochs.py"
SHOWN = "tests/diagnosis/clinic/full_size.py"


def epoch_seconds(*command: str) -> float:
    """Return the median seconds of an epoch, of one run."""
    argv = [sys.executable, *command, SCRIPT]
    done = subprocess.run(argv, cwd=COURSE, capture_output=True, text=True, check=True)
    return statistics.median(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Print the ratio of interleaved runs with and without, and its range; or draw a report."""
    if "--picture" in sys.argv:
        argv = [sys.executable, "-m", "course_utils.diagnosis", SHOWN]
        report = subprocess.run(argv, cwd=COURSE, capture_output=True, text=True, check=True)
        RECORD.write_text(
            json.dumps({**environment("torch", "numpy", "pillow"), "script": SHOWN}, indent=1) + "\n"
        )
        RECORD.with_suffix(".svg").write_text(
            draw(report.stderr.strip().replace(SHOWN, "train.py").splitlines())
        )
        return
    ratios = []
    for _ in range(REPEATS):
        plain = epoch_seconds()
        ratios.append(epoch_seconds("-m", "course_utils.diagnosis") / plain)
    spread = f"{min(ratios):.3f} to {max(ratios):.3f}, {REPEATS} interleaved pairs"
    print(f"an epoch takes {statistics.median(ratios):.3f} times as long ({spread})")


if __name__ == "__main__":
    main()
