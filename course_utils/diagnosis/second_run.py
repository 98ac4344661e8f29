"""Run the script once more: with one cached batch, or under `strace`."""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

CALLS = {"open": "opens", "openat": "opens", "read": "reads", "pread64": "reads", "getdents64": "listings"}
STATS = ("stat", "lstat", "newfstatat", "statx", "access")
LINE = re.compile(r'^(?:\[?\w* ?\d+\]? )?(\w+)\(.*?(?:"([^"]*)"|<([^>]*)>)')


def _command(options: argparse.Namespace) -> list[str]:
    what = ["-m", options.module] if options.module else [options.script]
    return [*what, *options.arguments]


def ceiling(options: argparse.Namespace, report: dict[str, Any]) -> dict[str, Any]:
    """Run the script with loaders that return their first batch again and again."""
    if options.loader or not report["measured"]:
        return {"why_not": "no training was seen"}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ceiling.json"
        own = [sys.executable, "-m", "course_utils.diagnosis", "--replay", "--json", str(file)]
        if sys.argv[0].endswith(".pyz") or not Path(__file__).exists():
            own[1:3] = [str(Path(__file__).parents[2])]
        done = subprocess.run(
            [*own, *_command(options)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        if done.returncode or not file.exists():
            return {"why_not": f"the second run failed: {done.stderr[-200:]}"}
        free = json.loads(file.read_text())["measured"]
    before = report["measured"]["wait"] + report["measured"]["compute"]
    return {"step": free["compute"], "gain": round(before / max(free["compute"], 1e-9), 2)}


def operations(options: argparse.Namespace) -> dict[str, Any]:
    """Count the file operations of all calls, those of C libraries included."""
    if not shutil.which("strace"):
        return {"why_not": "strace is not installed"}
    names = ",".join(["?" + name for name in (*CALLS, *STATS)])
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        command = [
            "strace",
            "-f",
            "-qq",
            "-y",
            "-e",
            f"trace={names}",
            "-o",
            str(log),
            sys.executable,
            *_command(options),
        ]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode or not log.exists():
            return {"why_not": f"strace failed: {done.stderr[-200:]}"}
        with log.open(errors="replace") as lines:
            return dict(_count(lines))


def _count(lines: Iterable[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for line in lines:
        match = LINE.match(line)
        if match and not (match[2] or match[3] or "").startswith(
            ("/proc", "/sys", "/dev", "/usr", "/lib", "/etc", sys.prefix)
        ):
            counts[CALLS.get(match[1], "stats")] += 1
    return counts
