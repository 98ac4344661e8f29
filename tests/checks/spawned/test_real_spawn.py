"""The receiver of `survives_spawn` is forked before the datasets are made; a spawned process judges alike.

`spawn` imports the module of a class, and a class of a notebook is in none: the forked receiver has the class
without the notebook. Here each answer of the bank is a module, and both receivers read its pickles.
"""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context

import numpy as np
import pytest

from course_utils.checks.core import Mistake
from course_utils.system import in_child
from grading.answers.bank import Answer, answers
from tests.checks.spawned.real_spawn import CHECK, receive
from tests.lessons.lesson import LESSONS, code_cells, read

pytestmark = pytest.mark.proof
BANK = [answer for answer in answers("multi_worker_handles") if answer.check == "survives_spawn"]


@pytest.fixture(scope="module")
def spawned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable]:
    """A stand-in for `waiting_child` whose child was started by `spawn`."""
    folder = tmp_path_factory.mktemp("modules")
    [lesson] = [lesson for lesson in LESSONS if lesson.module_name == "multi_worker_handles"]
    cells = code_cells(read(lesson.solution))
    setup = "\n".join(cell.source for cell in cells if "setup" in cell.metadata.get("tags", []))
    for answer in BANK:
        (folder / f"spawned_{answer.name}.py").write_text(f"{setup}\n{answer.source}")
    sys.path.append(str(folder))
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:

        @contextmanager
        def waiting_child(function: partial) -> Iterator[Callable[[bytes], object]]:
            yield lambda data: pool.submit(receive, function.args[1], data).result()

        yield waiting_child
    sys.path.remove(str(folder))


def mistake(answer: Answer) -> str:
    """The mistake that the samples show, whatever was done with the files; '' for none."""
    inputs, truth = CHECK.make(np.random.default_rng(1))
    dataset_class = __import__(f"spawned_{answer.name}").PicklableZIPDataset
    try:
        CHECK._judge_samples(truth, CHECK.probe(inputs, dataset_class)["value"])
    except Mistake as found:
        return found.name
    return ""


@pytest.mark.parametrize("answer", BANK, ids=str)
def test_spawned_process_judges_as_the_forked_one(monkeypatch, spawned, answer):
    forked = in_child(mistake, answer)  # what it keeps in its module, too
    monkeypatch.setattr(CHECK, "waiting_child", spawned)
    assert mistake(answer) == forked
