"""What sbcast asks of the file system of its source, under a real Slurm."""

import os
import sys
from dataclasses import astuple

import pytest

from course_utils.scratch.way_costs import broadcast_operations
from course_utils.storage import strace
from tests.grading.slurm_node import SlurmNode, missing

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(bool(missing()), reason=f"Slurm is not installed: {missing()}"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may start munge and Slurm"),
    pytest.mark.skipif(bool(strace.why_not_traceable()), reason=strace.why_not_traceable()),
]

TRACE = """
import sys
from dataclasses import astuple
from pathlib import Path
from course_utils.scratch import broadcast_command
from course_utils.storage import strace
source, target = map(Path, sys.argv[1:])
print(*astuple(strace.trace(broadcast_command(source, target), under=source)))
"""


def test_sbcast_asks_for_what_the_row_says(tmp_path_factory):
    folder, data = tmp_path_factory.mktemp("broadcast"), os.urandom(5_000_001)
    source, target = folder / "set.tar", folder / "copy.tar"
    source.write_bytes(data)
    (folder / "trace.py").write_text(TRACE)
    (folder / "job.sh").write_text(f"#!/bin/bash\n{sys.executable} {folder}/trace.py {source} {target}\n")
    with SlurmNode() as node:
        node.run("sbatch", "--wait", f"--output={folder}/log", str(folder / "job.sh"))
    assert [int(one) for one in (folder / "log").read_text().split()] == list(
        astuple(broadcast_operations(len(data)))
    ), (folder / "log").read_text()
    assert target.read_bytes() == data
