"""A wrong answer's message names a thread that a cell has started, and none of the kernel or of a loader."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
from nbclient import NotebookClient

from course_utils.checks.core.check import NOT_WRITTEN_YET, Check, CheckFailed, Mistake
from course_utils.system import threads_of_cells

# A kernel starts a thread for an output above 64 kB, and a loader that fails leaves the one of its queue.
CELLS = (
    "from IPython.display import display, Image\n"
    "import os, threading, torch\n"
    "from torch.utils.data import DataLoader\n"
    "from tests.checks.core.test_running_threads import wrong\n"
    "display({'image/png': 'A' * 200_000}, raw=True)",
    "class Broken:\n    def __len__(self):\n        return 64\n"
    "    def __getitem__(self, index):\n        1 / 0\n"
    "torch.multiprocessing.set_start_method('fork', force=True)\n"
    "for _ in DataLoader(Broken(), num_workers=2):\n    pass",
    "[f'{type(thread).__name__} {thread.name}' for thread in threading.enumerate()]",
    "wrong(max)",
    "ended = threading.Event()\ndef train():\n    ended.wait()\n"
    "threading.Thread(target=train, name='training').start()",
    "wrong(max)",
    "ended.set()",
)


def _judge(truth, found):
    raise Mistake(found, "Wrong.")


wrong = Check(make=lambda rng: ({}, None), probe=lambda inputs, answer: answer.__name__, judge=_judge)


@pytest.mark.slow
def test_a_kernel_names_the_thread_of_a_cell_and_no_other():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    NotebookClient(notebook, timeout=120, allow_errors=True).execute()
    _, failed, names, before, _, during, _ = [cell.outputs for cell in notebook.cells]
    assert failed[-1]["ename"] == "ZeroDivisionError"
    started = names[0]["data"]["text/plain"]
    assert "GarbageCollectorThread" in started
    assert "QueueFeederThread" in started
    assert before[0]["evalue"] == "Wrong."
    assert "running (training)" in during[0]["evalue"]


@pytest.fixture
def ended():
    event = threading.Event()
    yield event
    event.set()


def _wait_until(condition):
    while not condition():
        time.sleep(0.001)


@pytest.mark.parametrize("target", ["function", "library", "subclass", "timer"])
def test_whatever_a_cell_started_is_named(ended, target):
    class Training(threading.Thread):
        def run(self):
            ended.wait()

    thread = {
        "function": lambda: threading.Thread(target=lambda: ended.wait()),
        "library": lambda: threading.Thread(target=ended.wait),
        "subclass": Training,
        "timer": lambda: threading.Timer(99, ended.wait),
    }[target]()
    thread.name = "training"
    thread.start()
    _wait_until(lambda: "training" in threads_of_cells())
    with pytest.raises(CheckFailed, match=r"^Wrong\. While .* running \(training\)"):
        wrong(max)
    if target == "timer":
        thread.cancel()
    ended.set()
    thread.join()
    with pytest.raises(CheckFailed, match=r"^Wrong\.$"):
        wrong(max)


def test_a_pool_is_named_while_it_works(ended):
    with ThreadPoolExecutor(1, "mine") as pool:
        pool.submit(sum, [1]).result()
        _wait_until(lambda: not threads_of_cells())
        pool.submit(lambda: ended.wait())
        _wait_until(lambda: threads_of_cells() == ["mine_0"])
        ended.set()


def test_an_exercise_that_is_not_solved_is_no_matter_of_threads(ended):
    def answer():
        pass

    answer.__name__ = NOT_WRITTEN_YET
    thread = threading.Thread(target=ended.wait)
    thread.start()
    with pytest.raises(CheckFailed, match=r"^Wrong\.$"):
        wrong(answer)
    ended.set()
    thread.join()
