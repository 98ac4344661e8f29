"""What each command of the command line does with its options.

Modules that do the work are imported by the command that needs them: to find that the data is there already
must not cost the time to load NumPy.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from data_setup.format import SetupError

if TYPE_CHECKING:
    from data_setup.create import Source


def photos(options: argparse.Namespace) -> None:
    """Make a set from photographs."""
    from data_setup.format import FORMS
    from data_setup.sources import photo_identity

    if options.if_missing and all((options.out / form).is_dir() for form in FORMS):
        print(f"{options.out} holds data already.")
    elif not _finished(photo_identity(options.count, options.seed), options):
        from data_setup.sources import PhotoSource

        _make(PhotoSource(options.count, options.seed), options)


def imagenet(options: argparse.Namespace) -> None:
    """Make a set from a collection of images."""
    from data_setup.sources import CollectionSource

    source = CollectionSource(options.source, options.labels, options.count, options.seed)
    if not _finished(source.identity(), options):
        _make(source, options)


def _finished(identity: dict[str, object], options: argparse.Namespace) -> bool:
    from data_setup.create import is_finished

    finished = is_finished(options.out, identity | {"shards": options.shards})
    if finished:
        print(f"{options.out} holds the set already.")
    return finished


def _make(source: "Source", options: argparse.Namespace) -> None:
    from course_utils.system import usable_cores
    from data_setup.create import make_set

    if options.shard is not None and not 0 <= options.shard < options.shards:
        raise SetupError(
            f"--shard {options.shard}: of {options.shards} shards the last is {options.shards - 1}"
        )
    make_set(source, options.out, options.shards, options.shard, options.workers or usable_cores())
    if options.shard is None:
        _report(options.out)
    else:
        print(f"Shard {options.shard} of {options.shards} is ready.")


def merge(options: argparse.Namespace) -> None:
    """Publish shards that were made one by one."""
    from data_setup.create import publish_set
    from data_setup.format import Stage

    stage = Stage(options.out)
    if not stage.plan.exists():
        raise SetupError(f"{options.out} holds no shards that wait to be merged")
    publish_set(stage)
    _report(options.out)


def info(options: argparse.Namespace) -> None:
    """Describe a set."""
    _report(options.out)


def verify(options: argparse.Namespace) -> None:
    """Compare a set with its manifest."""
    from data_setup.inspect import problems

    if not (options.out / "manifest.json").exists():
        raise SetupError(f"{options.out} has no manifest.json to compare with; `adopt` writes one")
    found = 0
    for problem in problems(options.out):
        print(problem)
        found += 1
    if found:
        raise SetupError(f"{options.out}: {found} problem{'s' if found > 1 else ''}, listed above")
    print(f"{options.out}: every file is what the manifest says.")


def adopt(options: argparse.Namespace) -> None:
    """Check a set and write its manifest."""
    from data_setup.inspect import adopt_set

    adopt_set(options.out)
    _report(options.out)


def bench(options: argparse.Namespace) -> None:
    """Compare the making of sets with the bare work on their pixels."""
    from course_utils.system import usable_cores
    from data_setup.bench import run

    run(options.count, options.rounds, options.workers or usable_cores(), options.scratch)


def _report(out: Path) -> None:
    from data_setup.inspect import report

    print(report(out))
