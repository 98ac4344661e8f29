"""The diagnosis itself: `python -m tests.bench.diagnosis [--overhead] [--promise] [--peers] [--picture]`.

Without an option: what the tool adds to an epoch of 1,000 samples a second (target: at most 3 %), and whether
predicted gains come true (target: within 25 % for nine in ten). `--peers` asks other tools about the same
scripts, where they are installed. All is written to `diagnosis.json`, and as a page to `diagnosis.md`.
"""

import json
import subprocess
import sys
from pathlib import Path

from tests.bench.diagnosis import overhead, peers, promise
from tests.bench.diagnosis.picture import draw
from tests.bench.diagnosis.table import page
from tests.bench.recording.environment import environment
from tests.lessons.lesson import COURSE

RECORD = Path(__file__).parents[1] / "diagnosis.json"
SHOWN = "tests/diagnosis/clinic/full_size.py"


def write(**fields: object) -> None:
    """Put fields into the record, beside what it holds."""
    before = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    record = {**before, **environment("torch", "numpy", "pillow"), **fields}
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
    RECORD.with_suffix(".md").write_text(page(record))


def picture() -> None:
    """Draw a report."""
    argv = [sys.executable, "-m", "course_utils.diagnosis", SHOWN]
    report = subprocess.run(argv, cwd=COURSE, capture_output=True, text=True, check=True)
    lines = report.stderr.strip().replace(SHOWN, "train.py").splitlines()
    RECORD.with_suffix(".svg").write_text(draw(lines))
    write(script=SHOWN)


def main() -> None:
    """Measure what is asked for, and print it."""
    asked = [option for option in sys.argv[1:] if option.startswith("--")] or ["--overhead", "--promise"]
    if "--picture" in asked:
        picture()
    if "--overhead" in asked:
        found = overhead.measure()
        print(overhead.told(found))
        write(overhead=found._asdict())
    if "--promise" in asked:
        kept = list(promise.measure())
        for item in kept:
            print(
                f"{item.name:28} {item.cause:22} {item.predicted:5.2f} {item.measured:6.2f} {item.is_kept()}"
            )
        print(f"{sum(item.is_kept() for item in kept)} of {len(kept)} within 25 %")
        write(promise=[item._asdict() | {"kept": item.is_kept()} for item in kept])
    if "--peers" in asked:
        said = [peers.compare(name)._asdict() for name in peers.SCRIPTS]
        write(peers={"said": said, "versions": peers.versions()})


if __name__ == "__main__":
    main()
