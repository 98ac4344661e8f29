import signal
import subprocess
import sys

import psutil
import pytest

# Starts workers that wait for work, prints their process ids, and waits.
PARENT = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
from os import getpid
from course_utils.system import die_with_parent
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    pool = ProcessPoolExecutor(2, context, initializer=die_with_parent)
    futures = [pool.submit(getpid) for _ in range(20)]
    [future.result() for future in futures]
    print(*pool._processes, flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_end_when_parent_is_killed(tmp_path, method):
    (tmp_path / "parent.py").write_text(PARENT)
    command = [sys.executable, tmp_path / "parent.py", method]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        workers = [psutil.Process(int(number)) for number in parent.stdout.readline().split()]
        assert workers
        parent.send_signal(signal.SIGKILL)
        _, alive = psutil.wait_procs(workers, timeout=60)
    assert not alive
