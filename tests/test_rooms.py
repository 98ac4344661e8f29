"""The rules of the house: which room imports which, through what door, and how full a folder may be."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.lessons.lesson import COURSE

PACKAGES = ("course_utils", "data_setup", "grading")
MOST_MODULES = 12

# What each room may import of the others. A room that is not listed may import none.
MAY_IMPORT = {
    "course_utils.data": {"cropping", "data.zips", "paths", "system"},
    "course_utils.data.zips": {"system"},
    "course_utils.loading": {"cropping", "data", "system"},
    "course_utils.storage": {"loading"},
    "course_utils.distributed": {"cropping", "data", "distributed.batch", "loading", "system", "training"},
    "course_utils.distributed.batch": {"scratch", "system"},
    "course_utils.diagnosis": {"diagnosis.judge", "diagnosis.record", "diagnosis.show"},
    "course_utils.diagnosis.judge": {"diagnosis.facts"},
    "course_utils.diagnosis.record": {"diagnosis.facts"},
    "course_utils.diagnosis.show": {"diagnosis.judge"},
    "course_utils.formats": {"data", "system"},
    "course_utils.remote": {"data.zips", "system"},
    "course_utils.format_trials": {"formats", "system"},
    "course_utils.scratch": {"data", "storage"},
    "course_utils.threads": {"system"},
    "course_utils.tokens": {"figures", "paths"},
    "course_utils.measure": {"figures", "loading", "storage", "system"},
    "course_utils.pipeline": {"data", "figures", "loading", "paths", "system", "training"},
    "course_utils.scaling": {"figures", "pipeline", "storage"},
    "course_utils.sliders": {"figures", "pipeline", "scaling", "storage"},
    "course_utils.checks.core": {"checks.world", "data", "system"},
    "course_utils.checks.input_pipeline": {"checks.core", "checks.world", "system"},
    "course_utils.checks.jpeg_vs_zip": {"checks.core", "checks.world", "data", "storage", "system"},
    "course_utils.checks.multi_worker_handles": {"checks.core", "system"},
    "course_utils.checks.gpu_pipelining": {"checks.core", "checks.world", "fakes", "pipeline"},
    "course_utils.checks": {"checks.core"},
    "course_utils.checks.many_nodes": {"checks", "checks.core", "checks.many_nodes._staging", "system"},
    "course_utils.checks.many_nodes._staging": {"checks.core", "system"},
    "course_utils.checks.beyond_photographs": {
        "checks.beyond_photographs._fetching", "checks.beyond_photographs._mixture", "checks.core",
        "checks.world", "system",
    },
    "course_utils.checks.beyond_photographs._fetching": {"checks.core", "checks.world"},
    "course_utils.checks.beyond_photographs._mixture": {"checks", "checks.core", "system"},
    "course_utils.checks.packed_formats": {
        "checks.core", "checks.world", "format_trials", "system",
    },
    "course_utils.checks.your_training": {"checks.core", "checks.your_training._mending", "pipeline"},
    "course_utils.checks.your_training._mending": {"checks.core", "fakes", "system"},
    "grading.sandbox": {
        "checks.core", "checks.world", "grading.sandbox.isolation", "validation",
    },
    "grading.answers": {"checks.core", "system", "train_script"},
    "grading.submission": {"exchange"},
    "course_utils.record": {
        "data", "figures", "paths", "pipeline", "scratch", "storage", "system", "training",
    },
    "course_utils.start_page": {"paths", "system", "train_script"},
    "course_utils.update": {"system", "train_script"},
    "course_utils.train_script": {"figures", "paths", "system"},
    "grading.notebook": {"grading.submission", "validation"},
    "grading.course": {
        "checks.core", "grading.notebook", "grading.sandbox", "grading.sandbox.isolation",
        "grading.submission", "paths", "system",
    },
    "grading.scoring": {
        "checks.core", "grading.course", "grading.notebook", "grading.sandbox", "grading.sandbox.isolation",
        "grading.submission", "system", "validation",
    },
    "grading.links": {"grading.course", "start_page"},
    "grading.nbgrader_plugins": {
        "checks.core", "grading.course", "grading.links", "grading.notebook", "grading.scoring",
        "grading.submission", "start_page", "system", "validation",
    },
    "grading.site": {"grading.course", "start_page", "update"},
    "grading": {
        "exchange", "grading.course", "grading.nbgrader_plugins", "grading.sandbox.isolation",
        "grading.scoring", "grading.submission", "system",
    },
    "data_setup.format": {"data", "paths"},
    "data_setup.sources": {"data", "data.zips", "data_setup.create", "data_setup.format", "system"},
    "data_setup.create": {"data", "data_setup.format", "system"},
    "data_setup.tokens": {"data_setup.create", "data_setup.format", "system", "tokens"},
    "data_setup.inspect": {"data", "data_setup.format", "system"},
    "data_setup": {
        "data_setup.create", "data_setup.format", "data_setup.inspect", "data_setup.sources",
        "data_setup.tokens", "data", "paths", "system",
    },
}  # fmt: skip

# Packages that only some rooms may import. torch takes seconds, nbgrader belongs to grading and its exchange.
ONLY_IN = {
    "nbgrader": ("course_utils.exchange", "grading"),
    "nbconvert": ("grading",),
    "nbformat": ("grading",),
    "IPython": (
        "course_utils.clinic", "course_utils.figures", "grading.sandbox", "course_utils.sliders",
    ),
    "ipywidgets": ("course_utils.sliders",),
    **dict.fromkeys(
        ("array_record", "google_crc32c", "h5py", "lmdb", "pyarrow"), ("course_utils.formats",)
    ),
    "tokenizers": ("course_utils.tokens.tokenizer", "data_setup.tokens"),
    "skimage": ("data_setup.sources",),
    "sklearn": ("data_setup.sources",),
    "matplotlib": tuple(
        f"course_utils.{room}"
        for room in (
            "figures", "format_trials", "measure", "pipeline", "record.shown", "scaling", "sliders",
            "storage", "tokens.mixture", "train_script.chart",
        )
    ),
    "matplotlib_inline": ("course_utils.figures",),
    "torch": tuple(
        f"course_utils.{room}"
        for room in (
            "checks", "cropping", "data", "diagnosis", "distributed", "fakes",
            "loading", "measure", "pipeline", "record", "storage",
            "system", "threads", "training", "video",
        )
    ),
    # A check looks at no clock; those of `stage` and `fetch_ranges` shorten each sleep.
    "time": ("course_utils.checks.beyond_photographs._fetching.store_client",
             "course_utils.checks.many_nodes._staging.moments",
             "course_utils.diagnosis", "course_utils.distributed",
             "course_utils.fakes", "course_utils.format_trials", "grading",
             "course_utils.measure", "course_utils.pipeline", "course_utils.record",
             "course_utils.remote.range_reader", "course_utils.storage",
             "course_utils.system.transient_errors", "course_utils.threads", "course_utils.training",
             "course_utils.video", "data_setup"),
}  # fmt: skip


class Import(NamedTuple):
    importer: str
    module: str
    names: tuple[str, ...]


def module_name(path: Path) -> str:
    parts = path.relative_to(COURSE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    paths = [path for package in PACKAGES for path in sorted((COURSE / package).rglob("*.py"))]
    return {module_name(path): path for path in paths if path.parent.name != "scripts"}  # of the clinic


def is_package(module: str) -> bool:
    return module in modules() and modules()[module].name == "__init__.py"


def room(module: str) -> str:
    """The package that a module lies in; a package is a room itself."""
    return module if is_package(module) else module.rpartition(".")[0]


@cache
def imports() -> list[Import]:
    """Every import in the packages, also those inside functions and for type checkers alone."""
    return [found for module, path in modules().items() for found in imports_of(module, path)]


def imports_of(module: str, path: Path) -> Iterator[Import]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (Import(module, name.name, ()) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports by a relative name"
            names = {name.name for name in node.names}
            whole = {name for name in names if is_package(f"{node.module}.{name}")}
            yield from (Import(module, f"{node.module}.{name}", ()) for name in sorted(whole))
            if names - whole:
                yield Import(module, str(node.module), tuple(sorted(names - whole)))


def ours() -> list[Import]:
    return [one for one in imports() if one.module.split(".")[0] in PACKAGES]


def between_rooms() -> list[Import]:
    return [one for one in ours() if room(one.importer) != room(one.module)]


def short(name: str) -> str:
    return name.removeprefix("course_utils.")


def test_every_rule_names_a_room_that_exists():
    known = {short(module) for module in modules()}
    assert set(MAY_IMPORT) <= set(modules())
    assert {name for allowed in MAY_IMPORT.values() for name in allowed} <= known


def test_a_room_imports_only_the_rooms_that_it_may():
    forbidden = [
        one
        for one in between_rooms()
        if short(one.module if one.module == "course_utils.paths" else room(one.module))
        not in MAY_IMPORT.get(room(one.importer), ())
        and one.module not in PACKAGES
    ]
    assert not forbidden


def test_every_permission_is_used():
    used = {(room(one.importer), short(one.module)) for one in between_rooms()}
    used |= {(room(one.importer), short(room(one.module))) for one in between_rooms()}
    permitted = {(name, other) for name, allowed in MAY_IMPORT.items() for other in allowed}
    unused = permitted - used
    assert not unused


def test_rooms_are_entered_by_their_doors():
    """Where a room offers names in its `__init__.pyi`, its modules are private to other rooms."""
    private = [
        one
        for one in between_rooms()
        if not is_package(one.module)
        and one.module != "course_utils.paths"
        and modules()[room(one.module)].with_suffix(".pyi").exists()
    ]
    assert not private


def test_what_is_imported_from_a_room_is_offered_there():
    missing = [
        (one.importer, one.module, name)
        for one in between_rooms()
        if is_package(one.module)
        for name in one.names
        if name not in offered(one.module)
    ]
    assert not missing


@cache
def offered(package: str) -> set[str]:
    """What a package lists for others; packages without a list offer their sub-packages and modules."""
    stub = modules()[package].with_suffix(".pyi")
    inside = {name.rpartition(".")[2] for name in modules() if name.rpartition(".")[0] == package}
    if not stub.exists():
        return inside
    nodes = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom)]
    return {str(name.asname) for node in nodes for name in node.names}


def test_no_circle_of_imports():
    """Neither between rooms nor between modules, also not for type checkers alone."""
    between_modules: dict[str, set[str]] = {}
    for one in ours():
        targets = {f"{one.module}.{name}" for name in one.names if f"{one.module}.{name}" in modules()}
        between_modules.setdefault(one.importer, set()).update(targets or {one.module})
    tuple(TopologicalSorter(between_modules).static_order())
    rooms: dict[str, set[str]] = {}
    for one in between_rooms():
        rooms.setdefault(room(one.importer), set()).add(room(one.module))
    tuple(TopologicalSorter(rooms).static_order())


@pytest.mark.parametrize("package", ONLY_IN)
def test_a_package_is_imported_only_where_it_belongs(package: str):
    elsewhere = {
        one.importer
        for one in imports()
        if one.module.split(".")[0] == package and not one.importer.startswith(ONLY_IN[package])
    }
    assert not elsewhere


def test_every_third_party_package_is_a_dependency_or_comes_with_one():
    known = set(ONLY_IN) | {
        "PIL",
        "lazy_loader",
        "mistune",
        "msgspec",
        "nh3",
        "numpy",
        "packaging",
        "psutil",
        "pynvml",
        "simplejpeg",
        "sqlalchemy",
        "torchcodec",
        "torchvision",
        "tqdm",
        "traitlets",
        "zlib_ng",
    }
    used = {one.module.split(".")[0] for one in imports()}
    used -= {*sys.stdlib_module_names, *PACKAGES, "_typeshed"}  # which only type checkers know
    assert used <= known


def test_the_diagnosis_needs_nothing_but_torch_and_numpy():
    """It is one file that works in an environment of a stranger."""
    inside = [one for one in imports() if one.importer.startswith("course_utils.diagnosis")]
    allowed = {*sys.stdlib_module_names, "course_utils", "numpy", "torch"}
    assert not {one.module for one in inside if one.module.split(".")[0] not in allowed}
    assert not {
        one.module for one in inside if "course_utils" in one.module and "diagnosis" not in one.module
    } - {"course_utils"}


# PyTorch's compiler is chosen by CXX; a sandbox and a site are made of environment variables; programs that
# an answer starts inherit the switch that disables the simulation; torchrun and srun tell a rank its number.
READS_VARIABLES = (
    "course_utils.paths",
    "course_utils.system.compiler",
    "course_utils.pipeline.settings",
    "course_utils.diagnosis.",
    "course_utils.distributed.",
    "course_utils.scratch.__main__",
    "grading.",
    "data_setup.__main__",
)


def test_only_paths_reads_the_environment():
    readers = {name for name, path in modules().items() if {"environ", "getenv"} & words(path)}
    assert not {name for name in readers if not name.startswith(READS_VARIABLES)}


def words(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


@pytest.mark.parametrize("top", ["book", "course_utils", "data_setup", "grading", "tests"])
def test_no_folder_holds_more_than_a_dozen_modules(top: str):
    """The bank of answers and the scripts of the clinic are data, not modules."""
    folders = [COURSE / top, *(path for path in (COURSE / top).rglob("*") if path.is_dir())]
    counts = {
        str(folder.relative_to(COURSE)): len(
            [path for path in folder.glob("*.py") if path.stem != "__init__"]
        )
        for folder in folders
        if not {"answers", "clinic"} & {*folder.parts}
    }
    full = {folder: count for folder, count in counts.items() if count > MOST_MODULES}
    assert not full, "join two modules of one subject, or make a room of some"
