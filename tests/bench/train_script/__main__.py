"""How fast `train.py` is as it is given and after each lesson, in images per second and of its own ceiling:

    python -m tests.bench.train_script --record    # minutes on two idle cores

Each round runs all versions one after the other. Of a run the last epoch counts: it does not start workers.
The ceiling is the same script with one cached batch, as `diagnosis --ceiling` measures it.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tqdm import tqdm

from course_utils.paths import data_dir
from course_utils.train_script.versions import LESSONS, source
from tests.bench.recording.environment import environment
from tests.bench.train_script.figure import draw
from tests.bench.train_script.page import GIVEN, page

RECORD = Path(__file__).parents[1] / "train_script.json"
VERSIONS = (GIVEN, *LESSONS)
CEILINGS = (GIVEN, "03", "04", "05")  # 00 to 02 change only how the batches come
EPOCH = re.compile(r"(\d+) images/s, (\d+% right, samples [0-9a-f]{8})")


def run(script: Path, images: int) -> tuple[float, str]:
    """Run a script from its start; return the images per second of the last epoch, and what it learned."""
    found = EPOCH.findall(_output([sys.executable], script, images))
    return float(found[-1][0]), found[-1][1]


def ceiling(script: Path, images: int) -> float:
    """Return the images per second of a script that trains on one cached batch."""
    report = script.with_name("report.json")
    tool = ["-m", "course_utils.diagnosis", "--replay", "--json", str(report)]
    _output([sys.executable, *tool], script, images)
    facts = json.loads(report.read_text())
    training = next(loader for loader in facts["loaders"] if loader["training"])
    return float(training["batch_size"] / facts["measured"]["compute"])


def _output(command: list[str], script: Path, images: int) -> str:
    (script.parent / "checkpoint.pt").unlink(missing_ok=True)
    asked = [str(script), str(data_dir().resolve()), "--images", str(images), "--epochs", "2"]
    done = subprocess.run([*command, *asked], cwd=script.parent, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{script.name} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def measure(rounds: int, images: int) -> dict[str, Any]:
    """Return the speeds and ceilings of all versions, a number for each round, and what they learned."""
    speeds: dict[str, list[float]] = {version: [] for version in VERSIONS}
    ceilings: dict[str, list[float]] = {version: [] for version in CEILINGS}
    learned = {}
    with tempfile.TemporaryDirectory() as folder:
        scripts = {version: Path(folder, version, "train.py") for version in VERSIONS}
        for version, script in scripts.items():
            script.parent.mkdir()
            script.write_text(source(None if version == GIVEN else version))
        for version, script in tqdm(list(scripts.items()) * rounds, unit="run"):
            speed, learned[version] = run(script, images)
            speeds[version].append(speed)
            if version in CEILINGS:
                ceilings[version].append(round(ceiling(script, images), 1))
    return {"speeds": speeds, "ceilings": ceilings, "learned": learned}


def main() -> None:
    """Measure, print the page, and with `--record` keep it."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.train_script", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--images", type=int, default=1500)
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name}, its page and figure")
    options = parser.parse_args()
    setting = {"images": options.images, "load": round(os.getloadavg()[0], 2)}
    record = {
        **environment("torch", "torchvision", "pillow", "numpy"),
        **setting,
        **measure(options.rounds, options.images),
    }
    print(page(record))
    if options.record:
        RECORD.write_text(json.dumps(record, indent=1) + "\n")
        RECORD.with_suffix(".md").write_text(page(record))
        draw(record, RECORD.with_suffix(".svg"))


if __name__ == "__main__":
    main()
