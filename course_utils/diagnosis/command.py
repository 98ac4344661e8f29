"""Options of the command, and the order of its work: run the script, judge, report."""

import argparse
import json
import os
import sys
from pathlib import Path

from course_utils.diagnosis import ranks, script
from course_utils.diagnosis.exits import Exits
from course_utils.diagnosis.record import foreign, spool
from course_utils.diagnosis.record.collector import Hooks
from course_utils.diagnosis.show import compare

USAGE = """
  python -m course_utils.diagnosis [options] train.py [arguments of train.py]
  python -m course_utils.diagnosis [options] -m package.module [arguments]
  python -m course_utils.diagnosis [options] --loader module:function
  python -m course_utils.diagnosis compare before.json after.json"""


def main(arguments: list[str]) -> int:
    """Run a script and report why it waits for its data; the report goes to stderr.

    Args:
        arguments: The command line without the program's name.

    Returns:
        The exit status of the script.
    """
    if arguments[:1] == ["compare"]:
        sys.stdout.write(compare.compare(*(json.loads(Path(name).read_text()) for name in arguments[1:3])))
        return 0
    options = _parse(arguments)
    run = ranks.Run.begin(keep=options.keep)

    def report(in_a_hurry: bool) -> None:
        try:
            _report(options, run, in_a_hurry)
        except Exception as error:
            spool.complain("the report", error)

    exits = Exits(report)
    exits.install()
    script.watch(str(run.folder), replay=options.replay)
    for name in options.iterate:
        foreign.watch(name)
    try:
        return _run(options)
    except KeyboardInterrupt as error:
        exits.end()
        script.die_of_interrupt(error)
        return 130


def _run(options: argparse.Namespace) -> int:
    if options.loader:
        script.prepare("-c", [], is_module=True)
        foreign.iterate_loader(options.loader)
        return 0
    script.prepare(options.module or options.script, options.arguments, is_module=bool(options.module))
    return script.run(options.module or options.script, is_module=bool(options.module))


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m course_utils.diagnosis",
        usage=USAGE,
        description="Run a training script unchanged, and say on stderr why it waits for its data.",
        allow_abbrev=False,
    )
    parser.add_argument("--json", metavar="FILE", help="write findings and measurements as JSON")
    parser.add_argument("--html", metavar="FILE", help="write a self-contained page")
    parser.add_argument("--trace", metavar="FILE", help="write a trace of all processes, for ui.perfetto.dev")
    parser.add_argument("--anonymous", action="store_true", help="leave file names out of the report")
    parser.add_argument(
        "--iterate", metavar="MODULE:CLASS", action="append", default=[], help="a loader of another kind"
    )
    parser.add_argument(
        "--loader", metavar="MODULE:FUNCTION", help="iterate over the loader that a function makes"
    )
    parser.add_argument(
        "--ceiling", action="store_true", help="run a second time with one cached batch: the upper bound"
    )
    parser.add_argument(
        "--strace", action="store_true", help="run a second time and count all file operations"
    )
    parser.add_argument("--keep", metavar="FOLDER", help="keep the records in a folder")
    parser.add_argument("--replay", action="store_true", help=argparse.SUPPRESS)
    own, rest = _split(arguments)
    options = parser.parse_args(own)
    options.module = rest[1] if rest[:1] == ["-m"] and len(rest) > 1 else None
    options.script = None if options.module or not rest else rest[0]
    options.arguments = rest[2:] if options.module else rest[1:]
    if not (options.script or options.module or options.loader):
        parser.error("no script was named")
    return options


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Separate our options from the script and its arguments, which may have the same names."""
    valued = ("--json", "--html", "--trace", "--iterate", "--loader", "--keep")
    i = 0
    while i < len(arguments) and arguments[i].startswith("--"):
        i += 2 if arguments[i] in valued else 1
    return arguments[:i], arguments[i:]


def _report(options: argparse.Namespace, run: ranks.Run, in_a_hurry: bool) -> None:
    """Judge what was recorded, and write what was asked for; nothing is run again in a hurry."""
    if Hooks.collector is not None:
        Hooks.collector.close("cut off" if in_a_hurry else "ended")
    if not run.is_last():
        return
    from course_utils.diagnosis import second_run
    from course_utils.diagnosis.judge import records, verdict
    from course_utils.diagnosis.show import anonymous, page, terminal, trace

    report = verdict.judge(run.folder)
    report["script"] = "" if options.anonymous else options.module or options.script or options.loader
    report["missing_hooks"] = Hooks.missing
    if options.ceiling and not in_a_hurry:
        report["ceiling"] = second_run.ceiling(options, report)
    if options.strace and not in_a_hurry:
        report["strace"] = second_run.operations(options)
    if options.anonymous:
        report = anonymous.without_names(report)
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1, default=str) + "\n")
    if options.html or options.trace:
        _, _, read = records.read(run.folder)
        if options.html:
            Path(options.html).write_text(page.page(report, read))
        if options.trace:
            Path(options.trace).write_text(json.dumps(trace.events(read)))
    if not options.replay:
        _say("\n".join(["", *terminal.lines(report), ""]))
    run.end()


def _say(text: str) -> None:
    """Write to stderr, even from a signal handler that interrupted a write to it."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except RuntimeError:
        os.write(2, text.encode())
