"""After lesson 05, an interrupted run and the one that resumes it train each sample of an epoch once."""

import sys
from pathlib import Path

import pytest
import torch

from course_utils.train_script.versions import write
from tests.train_script.test_versions import load

IMAGES = 80
STEP = torch.optim.Adam.step


@pytest.fixture
def run(tmp_path, lesson_data, monkeypatch):
    """Return a function that runs the script in this process, perhaps until a step."""
    script = write(tmp_path, after="05")
    arguments = [str(lesson_data), "--images", str(IMAGES), "--epochs", "2"]
    monkeypatch.setattr(sys, "argv", [script.name, *arguments])

    def run_in(folder: Path, batch: int = 8, until: int | None = None) -> list[int]:
        monkeypatch.chdir(folder)
        module = load(script)
        module.BATCH, module.WORKERS = batch, {}
        loaded, steps = [], []
        original_get = module.Photographs.__getitem__

        def get(self, i):
            loaded.extend([i] if len(self) == IMAGES else [])
            return original_get(self, i)

        def step(*arguments, **options):
            steps.append(1)
            if len(steps) == until:
                raise KeyboardInterrupt
            return STEP(*arguments, **options)

        monkeypatch.setattr(module.Photographs, "__getitem__", get)
        monkeypatch.setattr(torch.optim.Adam, "step", step)
        module.main()
        return loaded

    return run_in


@pytest.mark.slow
def test_an_interrupted_run_loads_what_was_not_trained_and_ends_alike(run, tmp_path, capsys):
    whole, other = tmp_path / "whole", tmp_path / "other"
    whole.mkdir()
    other.mkdir()
    order = run(whole)
    printed = capsys.readouterr().out.splitlines()
    for until in (7, 5):  # of 10 steps; saved are 4 and, in the run that resumes, 4 more
        with pytest.raises(KeyboardInterrupt):
            run(other, until=until)
    assert run(other) == order[8 * 8 :]
    assert sorted(order[:IMAGES]) == sorted(order[IMAGES:]) == list(range(IMAGES))
    ended, alike = (torch.load(folder / "checkpoint.pt") for folder in (whole, other))
    assert all(torch.equal(ended["model"][name], alike["model"][name]) for name in ended["model"])
    assert [line.split(",")[1:] for line in capsys.readouterr().out.splitlines()[1::2]] == [
        line.split(",")[1:] for line in printed[1::2]
    ]


@pytest.mark.slow
@pytest.mark.parametrize("batch", [5, 32])
def test_another_batch_size_begins_with_the_next_sample(run, tmp_path, batch):
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, until=7)
    resumed = run(tmp_path, batch)
    first, second = resumed[: IMAGES - 32], resumed[IMAGES - 32 :]
    generator = torch.Generator().manual_seed(0)
    assert first == torch.randperm(IMAGES, generator=generator).tolist()[32:]
    assert sorted(second) == list(range(IMAGES))
