"""The diagnosis itself: `python -m tests.bench.diagnosis [--overhead] [--promise] [--peers] [--picture]`.

Without an option: what the tool adds to an epoch of 1,000 samples a second (target: at most 3 %), and whether
predicted gains come true (target: within 25 % for nine in ten). `--peers` asks other tools about the same
scripts, where they are installed. All is written to `diagnosis.json`, and as a page to `diagnosis.md`, after
each script; `--promise --rounds 3` measures what a run with as many rounds has not (`--again`: all).
"""

import argparse
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


def keep_promises(rounds: int, again: bool) -> None:
    """Measure each cure that the record lacks, and write it down."""
    known = {} if again else _known(rounds)
    for cure in promise.cures():
        if (cure.name, cure.cause) not in known:
            kept = promise.measure(cure, rounds)
            known[kept.name, kept.cause] = kept
            print(kept.told(), flush=True)
            write(promise=[one._asdict() | {"kept": one.is_kept()} for one in known.values()])
    judged = [one.is_kept() for one in known.values() if one.is_kept() is not None]
    print(f"{sum(judged)} of {len(judged)} within 25 %, of {len(known)} cures")


def _known(rounds: int) -> dict[tuple[str, str], promise.Kept]:
    """What the record has, unless a cure was measured in another number of rounds or failed."""
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    fields = promise.Kept._fields
    kept = [promise.Kept(*(one[field] for field in fields)) for one in record.get("promise", [])]
    return {(one.name, one.cause): one for one in kept if one.rounds == rounds and one.measured}


def ask_peers() -> None:
    """Let the tools that are installed say what they say of each script, and write it down."""
    said = []
    for name in peers.SCRIPTS:
        said.append(peers.compare(name)._asdict())
        print(json.dumps(said[-1]), flush=True)
        write(peers={"said": said, "versions": peers.versions()})


def main() -> None:
    """Measure what is asked for, and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ("picture", "overhead", "promise", "peers")
    for part in parts:
        parser.add_argument(f"--{part}", action="store_true")
    parser.add_argument("--rounds", type=int, default=promise.ROUNDS, help="of each cure")
    parser.add_argument("--again", action="store_true", help="measure what the record has, too")
    options = parser.parse_args()
    asked = [part for part in parts if getattr(options, part)] or ["overhead", "promise"]
    if "picture" in asked:
        picture()
    if "overhead" in asked:
        found = overhead.measure()
        print(overhead.told(found))
        write(overhead=found._asdict())
    if "promise" in asked:
        keep_promises(options.rounds, options.again)
    if "peers" in asked:
        ask_peers()


if __name__ == "__main__":
    main()
