"""The command: scripts run as without it, and reports of all forms are written."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from course_utils.diagnosis.archive import build
from course_utils.diagnosis.judge import records
from course_utils.diagnosis.show.compare import compare
from tests.lessons.lesson import COURSE

pytestmark = pytest.mark.slow
PYTHONS = os.environ.get("DIAGNOSIS_PYTHONS", "").split()
COMMAND = (sys.executable, "-m", "course_utils.diagnosis")
NEEDED = (
    *(
        "torch",
        "numpy",
        "numpy.libs",
        "typing_extensions.py",
        "sympy",
        "mpmath",
        "networkx",
        "jinja2",
        "cuda",
    ),
    *("markupsafe", "filelock", "fsspec", "nvidia", "triton", "functorch", "torchgen"),
)
TRAINING = """
import random, sys
import numpy as np, torch
from torch.utils.data import DataLoader, TensorDataset

def train(workers):
    torch.manual_seed(0)
    data = TensorDataset(torch.rand(256, 8), torch.rand(256, 1))
    loader = DataLoader(data, 8, shuffle=True, num_workers=workers)
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(2):
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(loss.item(), random.random(), np.random.rand(), torch.rand(1).item())

if __name__ == "__main__":
    random.seed(0), np.random.seed(0)
    train(0), train(1)
"""


def start(
    command: tuple[str, ...], script: Path, *arguments: str, **options
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*command, str(script), *arguments], cwd=COURSE, capture_output=True, text=True, **options
    )


def written(tmp_path: Path, source: str) -> Path:
    script = tmp_path / "train.py"
    script.write_text(source)
    return script


def test_a_training_computes_the_same_and_all_reports_are_written(tmp_path):
    script = written(tmp_path, TRAINING)
    names = {kind: tmp_path / f"report.{kind}" for kind in ("json", "html", "trace")}
    options = [text for kind, path in names.items() for text in (f"--{kind}", str(path))]
    told = start((*COMMAND, *options), script)
    assert told.returncode == 0
    assert told.stdout == start((sys.executable,), script).stdout
    assert "diagnosis of" in told.stderr
    assert len(told.stderr.splitlines()) <= 42  # 40 and an empty line before and after
    report = json.loads(names["json"].read_text())
    assert report["version"] == 1
    assert {"findings", "verdict", "measured", "unknown"} <= set(report)
    assert {event["ph"] for event in json.loads(names["trace"].read_text())["traceEvents"]} == {"M", "X"}
    assert "prefers-color-scheme" in names["html"].read_text()
    assert "http" not in names["html"].read_text()
    assert "1.00 × as fast" in compare(report, report)


@pytest.mark.proof
def test_a_script_sees_what_python_would_show_it(tmp_path):
    source = "import sys\nprint(sys.argv, sys.path[0], __name__, __file__)\nraise SystemExit(3)\n"
    script = written(tmp_path, source)
    told, alone = start(COMMAND, script, "--json", "x"), start((sys.executable,), script, "--json", "x")
    assert (told.stdout, told.returncode) == (alone.stdout, alone.returncode)
    assert "no batch of a DataLoader was seen" in told.stderr


def test_a_traceback_has_no_frame_of_ours(tmp_path):
    script = written(tmp_path, "def fail():\n    raise ValueError('broken')\n\nfail()\n")
    told, alone = start(COMMAND, script), start((sys.executable,), script)
    assert told.returncode == 1
    assert told.stderr.startswith(alone.stderr)


def test_an_interrupt_ends_the_script_as_without_us(tmp_path):
    source = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    assert start(COMMAND, written(tmp_path, source)).returncode == -signal.SIGINT


def test_an_error_of_ours_is_a_line_and_the_script_continues(tmp_path):
    source = TRAINING + "\nprint('to the end')\n"
    broken = "import course_utils.diagnosis.facts.loaders as loaders\nloaders.settings = None\n"
    told = start(COMMAND, written(tmp_path, broken + source))
    assert told.returncode == 0
    assert "to the end" in told.stdout
    assert "diagnosis: _begin failed, the script continues" in told.stderr


PICTURES = """
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

class Pictures(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return torch.tensor(Image.open("black.png").convert("RGB").getpixel((0, 0)))

if __name__ == "__main__":
    for epoch in range(2):
        print(len(list(DataLoader(Pictures(), 2, num_workers=1))))
"""


def test_pictures_are_seen_of_workers_that_import_the_decoder(tmp_path):
    from PIL import Image

    Image.new("RGB", (8, 8)).save(tmp_path / "black.png")
    report = tmp_path / "report.json"
    source = PICTURES.replace("black.png", str(tmp_path / "black.png"))
    told = start((*COMMAND, "--json", str(report)), written(tmp_path, source))
    assert told.stdout.split() == ["4", "4"], told.stderr
    assert json.loads(report.read_text())["measured"]["fetch"]["decodes"] == 1


@pytest.mark.proof
def test_steps_without_a_loader_are_counted(tmp_path):
    source = "import torch\nstep = torch.optim.SGD([torch.zeros(1)], 1).step\nstep(), step(), step()\n"
    told = start(COMMAND, written(tmp_path, source))
    assert "no batch of a DataLoader was seen (3 steps of optimizers)" in told.stderr


@pytest.mark.proof
def test_records_of_two_runs_are_never_mixed(tmp_path):
    keeping, script = (*COMMAND, "--keep", str(tmp_path / "records")), written(tmp_path, TRAINING)
    assert start(keeping, script).returncode == 0
    again = start(keeping, script)
    assert again.returncode == 1
    assert "holds the records of another run" in again.stderr


STARTS = """
import torch
from torch.utils.data import DataLoader

class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, i):
        return i * i

if __name__ == "__main__":
    for batch_size, start in enumerate(("fork", "spawn", "forkserver"), 4):
        print(sum(len(batch) for batch in DataLoader(
            Squares(), batch_size, num_workers=1, multiprocessing_context=start
        )))
"""


@pytest.mark.proof
def test_workers_are_seen_however_they_start(tmp_path):
    told = start((*COMMAND, "--keep", str(tmp_path / "records")), written(tmp_path, STARTS))
    assert told.stdout.split() == ["32"] * 3, told.stderr
    _, loaders, _ = records.read(tmp_path / "records")
    seen = {loader.settings["start"]: len(loader.of("fetch")) for loader in loaders}
    assert seen == {"fork": 8, "spawn": 7, "forkserver": 6}


@pytest.mark.proof
def test_the_one_file_works_where_there_is_only_torch(tmp_path):
    """An environment of what torch needs, and nothing else."""
    site = tmp_path / "site"
    site.mkdir()
    import torch

    packages = Path(torch.__file__).parents[1]
    for name in NEEDED:
        if (packages / name).exists():
            (site / name).symlink_to(packages / name)
    archive = build(tmp_path / "diagnosis.pyz")
    script = written(tmp_path, TRAINING)
    assert_it_works([sys.executable, "-S", str(archive)], script, {**os.environ, "PYTHONPATH": str(site)})


@pytest.mark.skipif(
    not PYTHONS, reason="DIAGNOSIS_PYTHONS names no interpreters of environments with other versions of torch"
)
@pytest.mark.parametrize("python", PYTHONS)
def test_the_one_file_works_with_other_versions_of_torch(tmp_path, python: str):
    """Such as `DIAGNOSIS_PYTHONS="torch24/bin/python torch213/bin/python"`."""
    archive = build(tmp_path / "diagnosis.pyz")
    without = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    assert_it_works([python, str(archive)], written(tmp_path, TRAINING), without)
    assert_it_works([python, str(archive)], written(tmp_path, STARTS), without)


def assert_it_works(command: list[str], script: Path, environment: dict[str, str]) -> None:
    report = script.with_suffix(".json")
    argv = [*command, "--json", str(report), str(script)]
    done = subprocess.run(argv, cwd=script.parent, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "verdict:" in done.stderr
    assert "failed, the script continues" not in done.stderr
    told = json.loads(report.read_text())
    assert not told["missing_hooks"]
    assert not [line for line in told["unknown"] if "were not seen" in line]
