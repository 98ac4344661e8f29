import subprocess

import psutil

from course_utils.system.process_tree import kill_process_tree


def test_descendants_in_sessions_of_their_own_are_killed():
    process = subprocess.Popen(["bash", "-c", "setsid sleep 60 & sleep 60 & echo started; wait"], stdout=-1)
    process.stdout.readline()
    family = psutil.Process(process.pid).children(recursive=True)
    kill_process_tree(process)
    _, alive = psutil.wait_procs(family, timeout=5)
    assert not alive
    assert process.returncode is not None


def test_process_that_has_ended_is_no_error():
    process = subprocess.Popen(["true"])
    process.wait()
    kill_process_tree(process)
    assert process.returncode == 0
