"""Replace the few functions of torch through which every batch, step and worker passes.

torch is imported by the script, not before it: a script may set variables that torch reads at its import.
"""

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from course_utils.diagnosis.facts import process
from course_utils.diagnosis.record.spool import complain, harmless

Action = Callable[[ModuleType], None]


class Hooks:
    """The process-wide state of the hooks."""

    folder = ""
    replay = False
    collector: Any = None
    missing: list[str] = []  # noqa: RUF012 - one a process


class AfterImport(importlib.abc.MetaPathFinder):
    """Call a function when a module has been imported."""

    def __init__(self, actions: dict[str, Action]) -> None:
        self.actions = actions

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find the module as Python does, with the action after its execution."""
        action = self.actions.pop(name, None)
        spec = importlib.util.find_spec(name) if action else None
        if spec is None or spec.loader is None or action is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            try:
                action(module)
            except Exception as error:
                complain(f"a hook in {name}", error)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def install(folder: str, replay: bool = False) -> None:
    """Record into `folder` from the moment at which the script imports torch."""
    Hooks.folder, Hooks.replay = folder, replay
    actions: dict[str, Action] = {
        "torch.utils.data.dataloader": hook_loaders,
        "torch.optim.optimizer": hook_steps,
        "torch.serialization": hook_saves,
        "torch.multiprocessing.spawn": hook_ranks,
    }
    for name in [name for name in actions if name in sys.modules]:
        actions.pop(name)(sys.modules[name])
    sys.meta_path.insert(0, AfterImport(actions))
    os.register_at_fork(after_in_child=_forget)


def _forget() -> None:
    """A forked process starts without the records of its parent."""
    from course_utils.diagnosis.record.worker import Log

    Hooks.collector, Log.spool, Log.latest = None, None, None


def collector() -> Any:
    """Return the collector of this process, made when it is first needed."""
    if Hooks.collector is None:
        from multiprocessing.util import Finalize

        from course_utils.diagnosis.record.collector import Collector
        from course_utils.diagnosis.record.worker import watch_fetchers

        Hooks.collector = made = Collector(Hooks.folder)
        if (child := sys.modules.get("multiprocessing.process")) and child.parent_process():
            Finalize(made, made.close, args=("ended",), exitpriority=50)
        watch_fetchers()
        hook_devices(made)
    return Hooks.collector


def hook_loaders(module: Any) -> None:
    """Hook iterators of `DataLoader`: how they are made, asked and ended."""
    from course_utils.diagnosis.record import replay

    base, loader_class = module._BaseDataLoaderIter, module.DataLoader
    for name, replacement in (
        ("__init__", _made), ("_reset", _reset), ("_next_index", _next_index), ("__next__", _next),
    ):  # fmt: skip
        if hasattr(base, name):
            setattr(base, name, replacement(getattr(base, name)))
        else:
            Hooks.missing.append(name)
    # The multi-process iterator calls `_reset` of its own, which calls that of the base class.
    if Hooks.replay:
        loader_class._get_iterator = replay.get_iterator(loader_class._get_iterator)
    loader_class._get_iterator = get_iterator(loader_class._get_iterator)


def _made(init: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(init)
    def made(iterator: Any, loader: Any, *args: Any, **kwargs: Any) -> None:
        try:
            name = collector().made(iterator, loader)
            start = loader.__dict__.get("worker_init_fn")
            if hasattr(start, "epoch") and type(start).__name__ == "WorkerStart":
                start.epoch = name
        except Exception as error:
            complain("the record of a loader", error)
        init(iterator, loader, *args, **kwargs)

    return made


def _reset(reset: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(reset)
    def again(iterator: Any, loader: Any = None, first_iter: bool = False, *args: Any, **kwargs: Any) -> None:
        if not first_iter and loader is not None and Hooks.collector is not None:
            try:
                Hooks.collector.again(iterator, loader)
            except Exception as error:
                complain("the record of an epoch", error)
        reset(iterator, loader, first_iter, *args, **kwargs)

    return again


def _next_index(next_index: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(next_index)
    def asked(iterator: Any) -> Any:
        begin = process.now()
        index = next_index(iterator)
        if Hooks.collector is not None:
            try:
                Hooks.collector.asked(iterator, index, process.now() - begin)
            except Exception as error:
                complain("the record of indices", error)
        return index

    return asked


def _next(next_batch: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(next_batch)
    def timed(iterator: Any) -> Any:
        row, found = None, Hooks.collector
        try:
            row = found.entered(iterator) if found is not None and iterator in found.epochs else None
        except Exception as error:
            complain("the record of a wait", error)
        if row is None or found is None:
            return next_batch(iterator)
        try:
            batch = next_batch(iterator)
        except StopIteration:
            harmless(found.finished)(iterator)
            raise
        try:
            found.left(iterator, row, batch)
        except Exception as error:
            complain("the record of a batch", error)
        return batch

    return timed


def get_iterator(original: Callable[..., Any]) -> Callable[..., Any]:
    """Put an object that measures in the place of `worker_init_fn`, only while the workers are started."""

    @functools.wraps(original)
    def made(loader: Any, *args: Any, **kwargs: Any) -> Any:
        if not getattr(loader, "num_workers", 0) or type(loader.worker_init_fn).__name__ == "WorkerStart":
            return original(loader, *args, **kwargs)
        function = loader.worker_init_fn
        try:
            from course_utils.diagnosis.record.worker import Log, WorkerStart

            if Log.latest:  # nobody should fork beside a thread
                Log.latest.sampler.stop()
            loader.worker_init_fn = WorkerStart(function, Hooks.folder, "0.0", process.readable_files())
        except Exception as error:
            complain("the hook of the workers", error)
        begin = process.now()
        try:
            iterator = original(loader, *args, **kwargs)
        finally:
            loader.worker_init_fn = function
        try:
            epoch = collector().epochs.get(iterator)
            if epoch is not None:
                epoch.begun, epoch.made = begin, process.now()
        except Exception as error:
            complain("the record of the workers", error)
        return iterator

    return made


def hook_steps(module: Any) -> None:
    """Count steps of optimizers."""
    register = getattr(module, "register_optimizer_step_post_hook", None)
    if register is None:
        Hooks.missing.append("optimizer steps")
        return
    register(lambda *args: Hooks.collector.stepped() if Hooks.collector is not None else None)


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
                harmless(Hooks.collector.paused)("torch.save", begin)

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
            for name, action in (
                ("torch.utils.data.dataloader", hook_loaders),
                ("torch.optim.optimizer", hook_steps),
            ):
                action(importlib.import_module(name))
        try:
            return self.function(*args)
        finally:
            if Hooks.collector is not None:
                harmless(Hooks.collector.close)("ended")
                Hooks.collector = None


def hook_devices(found: Any) -> None:
    """Count synchronisations and copies, only where there is an accelerator."""
    torch: Any = sys.modules["torch"]
    if not torch.cuda.is_available():
        return
    from course_utils.diagnosis.record import devices

    devices.install(found)
