"""The commands of the command line.

Each imports only the modules that it needs: a command that finds the data in place need not load NumPy.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from data_setup.format.errors import SetupError
from data_setup.format.layout import FORMS, MANIFEST, TOKENS, first_of

if TYPE_CHECKING:
    from data_setup.create.builder import Source
    from data_setup.create.render import ItemT
    from data_setup.format.manifest import Identity

MAX_NAMED = 5


def photos(options: argparse.Namespace) -> None:
    """Make a set from photographs."""
    from data_setup.sources.photo_catalogue import photo_identity

    if options.if_missing and _holds_data(options.out):
        print(f"{options.out} already holds data.")
    elif not _is_finished(photo_identity(options.count, options.seed), options):
        from data_setup.sources.photo_source import PhotoSource

        _create(PhotoSource(options.count, options.seed), options)


def _holds_data(out: Path) -> bool:
    """Return whether there is a set, whoever made it; one with a manifest must be complete."""
    from data_setup.create.staging import require_complete

    if (out / MANIFEST).exists():
        require_complete(out)
        return True
    return all((out / form).is_dir() and any((out / form).iterdir()) for form in FORMS)


def full_size(options: argparse.Namespace) -> None:
    """Make a set of photographs of mixed sizes, packed only."""
    from data_setup.sources.full_size_photos import FullSizePhotos

    source = FullSizePhotos(options.count, options.seed)
    if not _is_finished(source.identity(), options):
        _create(source, options)


def imagenet(options: argparse.Namespace) -> None:
    """Make a set from a collection of images."""
    from data_setup.sources.collection_source import CollectionSource

    source = CollectionSource(options.source, options.labels, options.count, options.seed)
    if _is_finished(source.identity(), options):
        return
    print(f"{options.source}: {source.available:,} images, {source.class_count:,} classes", flush=True)
    if skipped := source.skipped:
        files = f"{len(skipped):,} file{'s' if len(skipped) > 1 else ''} skipped"
        print(f"{files}, no images by their names: {first_of(skipped, MAX_NAMED)}", flush=True)
    if source.has_odd_classes and not options.yes:
        _confirm(source.class_count)
    _create(source, options)


def tokens(options: argparse.Namespace) -> None:
    """Make a set of tokens."""
    from data_setup.create.staging import is_finished, require_complete

    if options.if_missing and (options.out / MANIFEST).exists():
        require_complete(options.out)
        print(f"{options.out} already holds tokens.")
        return
    if options.if_missing and not _may_be_made(options.out):
        print(f"{options.out} is missing and cannot be written: lesson 07 needs it; ask who made the data.")
        return
    from data_setup.tokens.token_builder import create_tokens, token_identity

    if is_finished(options.out, token_identity(options.every)):
        print(f"{options.out} already holds the set.")
    else:
        from course_utils.system import usable_cores

        create_tokens(options.out, options.every, options.workers or usable_cores())
        info(options)


def _may_be_made(out: Path) -> bool:
    """Return whether this account may make a folder."""
    absolute = out.absolute()
    return os.access(next(folder for folder in absolute.parents if folder.exists()), os.W_OK)


def _confirm(classes: int) -> None:
    """Ask whether an odd number of classes is meant; without a terminal, stop."""
    doubt = f"{classes:,} {'class is' if classes == 1 else 'classes are'} odd for so many images"
    if not sys.stdin.isatty():
        raise SetupError(f"{doubt}. Check the labels; --yes takes them as they are. Nothing was made.")
    if input(f"{doubt}. Make the set? [y/N] ").strip().lower() not in ("y", "yes"):
        raise SetupError("nothing was made")


def _is_finished(source: "Identity", options: argparse.Namespace) -> bool:
    from data_setup.create.indexes import save_indexes
    from data_setup.create.staging import is_finished, set_identity

    finished = is_finished(options.out, set_identity(source, options.shards))
    if finished:
        save_indexes(options.out)
        print(f"{options.out} already holds the set.")
    return finished


def _create(source: "Source[ItemT]", options: argparse.Namespace) -> None:
    from course_utils.system import usable_cores
    from data_setup.create.builder import create_set
    from data_setup.create.indexes import save_indexes

    create_set(source, options.out, options.shards, options.shard, options.workers or usable_cores())
    if options.shard is None:
        save_indexes(options.out)
        info(options)
    else:
        print(f"Shard {options.shard} of {options.shards} is finished.")


def info(options: argparse.Namespace) -> None:
    """Describe a set."""
    from data_setup.inspect.info import describe_set

    print(describe_set(options.out))


def verify(options: argparse.Namespace) -> None:
    """Compare a set with its manifest."""
    from data_setup.inspect.verify import find_problems

    if not (options.out / MANIFEST).exists():
        raise SetupError(f"{options.out} has no {MANIFEST} to compare with; `adopt` writes one")
    problems, beside = [], options.out / TOKENS
    for folder in (options.out, *([beside] if (beside / MANIFEST).exists() else [])):
        found = 0
        for problem in find_problems(folder):
            print(problem)
            found += 1
        if found:
            problems.append(f"{folder}: {found} problem{'s' if found > 1 else ''}, listed above")
        else:
            print(f"{folder}: all files match the manifest.")
    if problems:
        raise SetupError("; ".join(problems))


def adopt(options: argparse.Namespace) -> None:
    """Check a set and write its manifest."""
    from data_setup.inspect.adopt import adopt_set

    adopt_set(options.out)
    info(options)


def bench(options: argparse.Namespace) -> None:
    """Compare the speed of making sets with that of the pixel work alone."""
    from course_utils.system import usable_cores
    from data_setup.bench import run

    run(options.count, options.rounds, options.workers or usable_cores(), options.scratch)
