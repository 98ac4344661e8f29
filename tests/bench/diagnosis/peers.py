"""What other tools say of the same scripts: TraceML, torch.profiler and DALI's `LoaderEvaluator`."""

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from tests.diagnosis.clinic_key import expected

COURSE = Path(__file__).parents[3]  # not from `tests.lessons`, which needs nbgrader
CLINIC = COURSE / "tests" / "diagnosis" / "clinic"
SCRIPTS = (
    "no_workers", "full_size", "float_images", "many_tensors", "workers_again", "slow_outlier",
    "list_of_strings", "shared_handle", "own_generator", "no_set_epoch", "labels_one_off", "healthy_computes",
)  # fmt: skip
LIMIT_S = 180

PROFILED = """
import runpy, sys
from torch.profiler import ProfilerActivity, profile
with profile(activities=[ProfilerActivity.CPU]) as profiled:
    runpy.run_path({script!r}, run_name="__main__")
events = sorted(profiled.key_averages(), key=lambda event: -event.self_cpu_time_total)
whole = sum(event.self_cpu_time_total for event in events)
print("SAID", "; ".join(f"{{e.key}} {{e.self_cpu_time_total / whole:.0%}}" for e in events[:2]))
"""


class Said(NamedTuple):
    """What the tools said of a script; empty text where a tool has said nothing.

    Attributes:
        script: Its name in the clinic.
        expected: What is wrong, or "healthy".
        diagnosis: Causes that the diagnosis named, the first one first, with the gain.
        traceml: TraceML's verdict on the script with `trace_step` in its loop.
        unchanged: TraceML's verdict on the unchanged script.
        profiler: The two most expensive entries of torch.profiler's summary, of the main process.
        evaluator: What DALI's evaluator prints for the loader.
    """

    script: str
    expected: str
    diagnosis: str
    traceml: str
    unchanged: str
    profiler: str
    evaluator: str


def compare(name: str) -> Said:
    """Run all tools on a script of the clinic."""
    script = CLINIC / f"{name}.py"
    text = script.read_text()
    return Said(
        name,
        ", ".join(expected(script)) or "healthy",
        _in_folder(_diagnosis, text),
        _in_folder(_traceml, _changed(text, _Steps())),
        _in_folder(_traceml, text),
        _in_folder(_profiler, text),
        _in_folder(_evaluator, _changed(text, _Loaders())),
    )


def versions() -> dict[str, str]:
    """Return the versions of the tools."""
    packages = {"traceml": "traceml-ai", "torch": "torch", "dali": "nvidia-dali-cuda130"}
    return {tool: _version(package) for tool, package in packages.items()}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def _in_folder(ask: Callable[[Path], str], text: str) -> str:
    """Let a tool say what it says of a script, in a folder that is removed; or the name of its error."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "train.py"
        script.write_text(text)
        try:
            return ask(script)
        except (subprocess.SubprocessError, FileNotFoundError) as error:
            return f"({type(error).__name__})"


def _run(script: Path, *argv: str | Path) -> str:
    environment = os.environ | {
        "PYTHONPATH": str(COURSE),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    done = subprocess.run(
        argv, cwd=script.parent, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    return done.stdout + done.stderr


def _diagnosis(script: Path) -> str:
    report = script.with_name("report.json")
    _run(script, sys.executable, "-m", "course_utils.diagnosis", "--json", report, script)
    findings = json.loads(report.read_text())["findings"]
    return "; ".join(f"{one['cause']}{_gain(one['gain'])}" for one in findings[:2]) or "nothing to gain"


def _gain(gain: float | None) -> str:
    return f" ({gain:.1f} times as fast)" if gain else ""


def _traceml(script: Path) -> str:
    printed = _run(script, "traceml", "run", script, "--mode=summary")
    found = re.search(r"Verdict: (.*?)\s*\|", printed)
    return found[1].capitalize() if found else ""


def _profiler(script: Path) -> str:
    printed = _run(script, sys.executable, "-c", PROFILED.format(script=str(script)))
    found = re.search(r"^SAID (.*)$", printed, re.MULTILINE)
    return found[1] if found else ""


def _evaluator(script: Path) -> str:
    found = re.findall(r"^EVALUATOR (.*)$", _run(script, sys.executable, script), re.MULTILINE)
    return found[-1] if found else ""


def _changed(text: str, change: ast.NodeTransformer) -> str:
    return ast.unparse(ast.fix_missing_locations(change.visit(ast.parse(text))))


class _Steps(ast.NodeTransformer):
    """Does what TraceML's manual asks for: `init`, and `trace_step(model)` around the body of the loop."""

    def visit_Module(self, module: ast.Module) -> ast.Module:
        """Begin the script with `traceml.init`."""
        self.generic_visit(module)
        first = 1 if ast.get_docstring(module) else 0
        module.body[first:first] = ast.parse('import traceml_ai as traceml\ntraceml.init(mode="auto")').body
        return module

    def visit_For(self, loop: ast.For) -> ast.For:
        """Change the innermost loop with a call of `.step()`."""
        self.generic_visit(loop)
        text = ast.unparse(loop)
        if re.search(r"opt\w*\.step\(\)", text) and "trace_step" not in text:
            [step] = ast.parse("with traceml.trace_step(model):\n    pass").body
            assert isinstance(step, ast.With)
            step.body, loop.body = loop.body, [step]
        return loop


class _Loaders(ast.NodeTransformer):
    """Wraps each `DataLoader(...)` in DALI's evaluator, and prints its figures at the end."""

    def visit_Module(self, module: ast.Module) -> ast.Module:
        """Import the evaluator, and print what it has measured when the script ends."""
        self.generic_visit(module)
        head = """
import atexit
from nvidia.dali.plugin.pytorch.loader_evaluator import LoaderEvaluator
_made = []
def _evaluated(loader):
    _made.append(LoaderEvaluator(loader))
    return _made[-1]
def _say():
    for one in _made:
        times = one.batch_times
        if times: print(f"EVALUATOR {1e3 * sum(times) / len(times):.1f} ms a batch", flush=True)
atexit.register(_say)
"""
        first = 1 if ast.get_docstring(module) else 0
        module.body[first:first] = ast.parse(head).body
        return module

    def visit_Call(self, call: ast.Call) -> ast.Call:
        """Wrap a loader."""
        self.generic_visit(call)
        if ast.unparse(call.func).split(".")[-1] == "DataLoader":
            return ast.Call(ast.Name("_evaluated", ast.Load()), [call], [])
        return call
