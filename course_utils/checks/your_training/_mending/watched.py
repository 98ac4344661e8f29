"""One run of a script, in a process of its own, with all hooks."""

import ast
import contextlib
import io
import os
import runpy
import sys
import warnings
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import adaptive_avg_pool2d
from torch.nn.modules import module as modules
from torch.optim import optimizer

from course_utils.checks.core import crash_report, environment, recording
from course_utils.checks.your_training._mending import device, watch
from course_utils.checks.your_training._mending.log import Log
from course_utils.checks.your_training._mending.runs import EPOCHS, GRID, Forward, Plan, Run
from course_utils.system import in_child


class _Interrupted(BaseException):
    """The machine takes the script's time away."""


def serve() -> None:
    """Do what `run_all` asks this process for: each run in a child of its own, up to the first that fails."""
    warnings.simplefilter("ignore")
    task: dict[str, Any] = environment.pickle.loads(sys.stdin.buffer.read())
    answer = os.dup(1)
    os.dup2(2, 1)
    runs: list[Run] = []
    warm_up()
    for number, plan in enumerate(task["plans"]):
        if not (runs and runs[-1]["error"]):
            runs.append(in_child(run_watched, task, plan, number))
    with os.fdopen(answer, "wb") as pipe:
        pipe.write(environment.pickle.dumps(runs))


def warm_up() -> None:
    """Import what a training imports on first use, before any process is forked."""
    torch.set_num_threads(1)
    network = torch.nn.Linear(1, 1)
    network(torch.zeros(1, 1)).sum().backward()
    for kind in (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD):
        kind(network.parameters(), lr=0.0).step()


def run_watched(task: dict[str, Any], plan: Plan, number: int) -> Run:
    """Run the script; return what it did."""
    folder = Path(task["folder"])
    place, script = folder / plan["place"], folder / plan["place"] / "train.py"
    place.mkdir(exist_ok=True)
    script.write_text(with_batch(task["text"], plan["batch"]))
    sys.argv = [str(script), str(folder / "data"), "--images", str(task["images"]), "--epochs", str(EPOCHS)]
    sys.path.insert(0, str(place))
    log, printed, error = Log(folder / f"events{number}"), io.StringIO(), ""
    network = Network(log, plan["until"])
    with contextlib.chdir(place), recording(folder) as files, contextlib.redirect_stdout(printed):
        watch.watch_files(log, files)
        watch.watch_loaders(log, task["labels"][: task["images"]])
        device.install(log)
        network.watch()
        if not plan["until"]:  # the judge asks for it in these runs alone
            watch.watch_work(log, 2 * len(task["labels"]))
        try:
            runpy.run_path(str(script), run_name="__main__")
        except _Interrupted:
            pass
        except SystemExit as left:
            error = f"SystemExit: {left.code}" if left.code else ""
        except BaseException as raised:
            error = crash_report(raised)
        finally:
            sys.setprofile(None)
    return {
        "forwards": network.forwards,
        "events": log.events(),
        "printed": printed.getvalue(),
        "error": error,
    }


def with_batch(text: str, batch: int) -> str:
    """Return a script with another value of `BATCH`, in the line that sets it; unchanged without one."""
    lines = text.splitlines()
    for node in reversed(ast.parse(text).body):
        names = {
            name.id
            for name in ast.walk(node)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        }
        if isinstance(node, ast.Assign | ast.AnnAssign) and "BATCH" in names:
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            line = lines[node.end_lineno - 1].encode()
            end = node.end_col_offset
            lines[node.end_lineno - 1] = (line[:end] + f"; BATCH = {batch}".encode() + line[end:]).decode()
            break
    return "\n".join(lines) + "\n"


class Network:
    """Sees all that goes through the network, and interrupts the script.

    Args:
        log: The log.
        until: How many samples are trained before the script is interrupted; 0 for the end.
    """

    def __init__(self, log: Log, until: int) -> None:
        self._log, self._until, self._depth = log, until, 0
        self._waiting, self._trained = 0, 0
        self.forwards: list[Forward] = []

    def watch(self) -> None:
        """Set the hooks of this process."""
        modules.register_module_forward_pre_hook(self._enter)
        modules.register_module_forward_hook(self._leave, always_call=True)
        optimizer.register_optimizer_step_post_hook(self._stepped)
        torch.save = watch.after(torch.save, lambda: self._log.add("saved", self._trained))
        loss = torch.nn.functional.cross_entropy

        def cross_entropy(given: Any, target: Any, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
            if self.forwards and torch.is_grad_enabled():
                self.forwards[-1]["labels"] = [int(label) for label in device.plain(target).flatten()]
            return loss(given, target, *arguments, **options)

        torch.nn.functional.cross_entropy = cross_entropy  # type: ignore[assignment]

    def _enter(self, module: torch.nn.Module, arguments: tuple[Any, ...]) -> None:
        self._depth += 1
        if self._depth == 1 and _is_network(module, arguments):
            self.forwards.append(_described(arguments[0]))
            self._waiting += len(arguments[0]) * torch.is_grad_enabled()
            self._log.add("forward", [len(arguments[0]), int(torch.is_grad_enabled())])

    def _leave(self, module: torch.nn.Module, arguments: tuple[Any, ...], result: Any) -> None:  # noqa: ANN401
        self._depth -= 1
        if self._depth == 0 and _is_network(module, arguments) and isinstance(result, torch.Tensor):
            guesses = device.plain(result.detach()).argmax(1)
            self.forwards[-1]["guesses"] = [int(guess) for guess in guesses]

    def _stepped(self, *_: object) -> None:
        self._trained, self._waiting = self._trained + self._waiting, 0
        self._log.add("stepped", self._trained)
        if self._until and self._trained >= self._until:
            raise _Interrupted


def _is_network(module: torch.nn.Module, arguments: tuple[Any, ...]) -> bool:
    images = arguments[0] if arguments else None
    is_images = isinstance(images, torch.Tensor) and images.ndim == 4
    return is_images and any(True for _ in module.parameters())


def _described(images: torch.Tensor) -> Forward:
    colours = adaptive_avg_pool2d(device.plain(images.detach()).float(), GRID).flatten(1).numpy()
    return {
        "trains": torch.is_grad_enabled(),
        "on_device": isinstance(images, device.OnDevice),
        "shape": list(images.shape),
        "colours": colours,
        "labels": [],
        "guesses": [],
    }
