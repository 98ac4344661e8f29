import asyncio
import fcntl
import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from nbval.plugin import IPyNbCell
from playwright.sync_api import Browser, sync_playwright
from xdist.scheduler import LoadFileScheduling

from course_utils.paths import TOKENS
from course_utils.start_page import MORE
from data_setup.cli import main
from tests.image_set import image_set  # noqa: F401 - a fixture
from tests.lessons.lesson import COURSE, LESSONS
from tests.whole import IS_WHOLE

# On a machine with other work, an example of Hypothesis takes any time.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
# Several tests run at once: threads of torch that wait for work would take the cores from the other tests.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# What a shell starts in the background ignores Ctrl-C, and so do the commands that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Commands started by tests (nbgrader, and what nbgrader starts) come from this environment, and uv from where
# `make lab` has put it if the machine has none.
HERE, FETCHED = Path(sys.executable).parent, COURSE / ".tools/bin"
os.environ["PATH"] = f"{HERE}{os.pathsep}{os.environ['PATH']}{os.pathsep}{FETCHED}"


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

# These take minutes each. They start first: one that started last would run alone at the end.
LONGEST = (
    "test_load.py",
    "test_book.py",
    "test_walk.py",
    "test_foreign_hub.py",
    "test_hub.py",
    "test_lab.py",
    "test_fuzz.py",
    "test_attacks.py",
    "test_answers.py",
    "test_new_exercise.py",
    "test_faults.py",
)
BY_LESSON = ("test_lab.py", "test_answers.py")
BY_EXERCISE = ("test_bank_seeds.py", "test_forgeries.py")
BY_TEST = "test_fuzz.py"
# These take many seconds each; `make check` leaves them out.
SLOW = {
    *LONGEST,
    "test_adopt.py",
    "test_archives.py",
    "test_bench.py",
    "test_beyond_photographs.py",
    "test_bounded.py",
    "test_builder.py",
    "test_cgroups.py",
    "test_client.py",
    "test_collect.py",
    "test_cropped_batches.py",
    "test_cuda.py",
    "test_damaged_files.py",
    "test_deadlines.py",
    "test_descriptors.py",
    "test_demonstrations.py",
    "test_encoded_set.py",
    "test_environment.py",
    "test_epoch_io.py",
    "test_evidence.py",
    "test_examination.py",
    "test_fast_loader.py",
    "test_formats.py",
    "test_gpu_pipelining.py",
    "test_gradebook.py",
    "test_handle_per_process.py",
    "test_inherited.py",
    "test_input_pipeline.py",
    "test_interrupts.py",
    "test_isolation.py",
    "test_jpeg_vs_zip.py",
    "test_judges.py",
    "test_kill.py",
    "test_killed_writers.py",
    "test_large_set.py",
    "test_loader_benchmark.py",
    "test_many_nodes.py",
    "test_marks_table.py",
    "test_memory.py",
    "test_model.py",
    "test_multi_worker_handles.py",
    "test_notebook_reader.py",
    "test_optional_exercises.py",
    "test_packed_formats.py",
    "test_panels.py",
    "test_parent_watch.py",
    "test_preprocess.py",
    "test_preprocessor.py",
    "test_process_tree.py",
    "test_processors.py",
    "test_random_crop.py",
    "test_reader_costs.py",
    "test_record.py",
    "test_recorder.py",
    "test_repository.py",
    "test_resnet.py",
    "test_rooms_lazy.py",
    "test_round.py",
    "test_shards.py",
    "test_shared_fs_dataset.py",
    "test_sharing.py",
    "test_sliders.py",
    "test_start_page.py",
    "test_stage.py",
    "test_staging.py",
    "test_strace.py",
    "test_student_repository.py",
    "test_student_start.py",
    "test_token_builder.py",
    "test_training.py",
    "test_without_sandbox.py",
    "test_workflow.py",
    "test_your_training.py",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--seeds", type=int, help="draws of each wrong answer in test_bank_seeds.py, 200 in an hour"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order the tests by duration, and mark the slow ones; notebooks without points are proofs."""
    rank = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.name, len(LONGEST)))
    for item in items:
        if isinstance(item, IPyNbCell) or item.path.name in SLOW:
            item.add_marker(pytest.mark.slow)
        if isinstance(item, IPyNbCell) and item.path.parent.name == MORE:
            item.add_marker(pytest.mark.proof)
    if not IS_WHOLE:
        left_out = {item for item in items if item.get_closest_marker("whole")}
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=[*left_out])


class ByFileOrPart(LoadFileScheduling):
    """Keep the tests of a file on one worker; where they take minutes, those of a part of it.

    nbval runs the cells of a notebook in one kernel, and the tests of a file share slow fixtures.
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        part = None
        if file.endswith(BY_LESSON):
            part = re.search(r"\[(\d\d_\w+)", test)
        elif file.endswith(BY_EXERCISE):
            part = re.search(r"\[(\w+)-", test)
        elif file.endswith(BY_TEST):
            part = re.match(r"(.*)", test)
        return f"{file} {part[1]}" if part else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ByFileOrPart:
    return ByFileOrPart(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Show what a lesson's failed cell has written: nbval names only its kind if none was expected."""
    report = yield
    if report.failed and isinstance(item, IPyNbCell):
        written = [out.text for out in item.test_outputs or () if out.output_type == "stream"]
        report.sections.append(("what the cell wrote", "".join(written)))
    return report


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with an argument `lesson` runs once for each lesson there is."""
    by_itself = any("lesson" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    if "lesson" in metafunc.fixturenames and not by_itself:
        metafunc.parametrize("lesson", LESSONS, ids=[lesson.name for lesson in LESSONS], scope="module")


@pytest.fixture(scope="session")
def photo_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 40 photographs in all three forms and their manifest; no test may change it."""
    return shared_photographs(40, tmp_path_factory)


@pytest.fixture(scope="session")
def lesson_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sets that are big enough for a lesson and quicker than the default ones; no test may change them."""
    folder = shared_photographs(400, tmp_path_factory)
    shared_set(folder / TOKENS, "tokens", "--every", "10")
    return folder


@pytest.fixture(scope="session")
def token_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with some hundred documents as tokens; no test may change it."""
    return shared_set(shared_folder(tmp_path_factory) / "some_tokens", "tokens", "--every", "40")


def shared_photographs(count: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shared_folder(tmp_path_factory) / f"photographs_{count}"
    return shared_set(folder, "photos", "--count", str(count))


def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def shared_set(folder: Path, *command: str) -> Path:
    """Return a set for all processes of this test run: the first one makes it, the others find it."""
    with folder.with_name(f".{folder.name}.test_lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return made_set(folder, *command)


def photographs(count: int, folder: Path) -> Path:
    return made_set(folder, "photos", "--count", str(count))


def made_set(folder: Path, *command: str) -> Path:
    assert main([*command, "--out", str(folder), "--workers", "1"]) == 0
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM:
        pytest.skip("no Chromium here")
    # Chromium's own sandbox does not run as root; /dev/shm is small in a container.
    flags = ["--no-sandbox", "--disable-dev-shm-usage"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


@pytest.fixture(autouse=True)
def loop_of_the_browser_is_hidden(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let tests start event loops of their own: Playwright leaves its loop running in this thread."""
    loop = None if "browser" in request.fixturenames else asyncio._get_running_loop()
    if loop:
        asyncio._set_running_loop(None)
    yield
    if loop:
        asyncio._set_running_loop(loop)
