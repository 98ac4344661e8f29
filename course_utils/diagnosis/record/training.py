"""Hooks beside the loading: steps of optimizers, checkpoints, processes that the script starts."""

import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any

from course_utils.diagnosis.facts import process
from course_utils.diagnosis.record.hooks import Action, Hooks, collector
from course_utils.diagnosis.record.iterators import hook as hook_iterators
from course_utils.diagnosis.record.spool import attempt


def hook_steps(module: Any) -> None:
    """Count steps of optimizers."""
    register = getattr(module, "register_optimizer_step_post_hook", None)
    if register is None:
        Hooks.missing.append("optimizer steps")
        return
    register(lambda *_: attempt(_stepped))


def _stepped() -> None:
    collector().stepped()


def hook_saves(module: Any) -> None:
    """Time checkpoints."""
    save = module.save

    @functools.wraps(save)
    def timed(*args: Any, **kwargs: Any) -> Any:
        begin = process.now()
        try:
            return save(*args, **kwargs)
        finally:
            if Hooks.collector is not None:
                attempt(Hooks.collector.paused, "torch.save", begin)

    module.save = timed
    if (torch := sys.modules.get("torch")) and getattr(torch, "save", None) is save:
        torch.save = timed  # type: ignore[attr-defined]


def hook_ranks(module: Any) -> None:
    """Record in the processes that `torch.multiprocessing.spawn` starts, too."""
    start = module.start_processes

    @functools.wraps(start)
    def started(fn: Any, *args: Any, **kwargs: Any) -> Any:
        return start(RankStart(fn, Hooks.folder), *args, **kwargs)

    module.start_processes = started


class RankStart:
    """A function of the script that runs in a process of its own, with hooks; it can be pickled."""

    def __init__(self, function: Callable[..., Any], folder: str) -> None:
        self.function, self.folder = function, folder

    def __call__(self, *args: Any) -> Any:
        """Run it."""
        if Hooks.folder != self.folder:
            Hooks.folder = self.folder
            hook_iterators(importlib.import_module("torch.utils.data.dataloader"))
            hook_steps(importlib.import_module("torch.optim.optimizer"))
        try:
            return self.function(*args)
        finally:
            if Hooks.collector is not None:
                attempt(Hooks.collector.close, "ended")
                Hooks.collector = None


ACTIONS: dict[str, Action] = {
    "torch.optim.optimizer": hook_steps,
    "torch.serialization": hook_saves,
    "torch.multiprocessing.spawn": hook_ranks,
}
