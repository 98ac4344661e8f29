"""End a process with all that it has started, also in sessions of their own."""

import subprocess
from contextlib import suppress
from typing import Any

import psutil


def kill_process_tree(process: "subprocess.Popen[Any]") -> None:
    """Kill a process and its descendants, and wait for it; it may have ended already."""
    with suppress(psutil.NoSuchProcess):
        # Stopped, it starts no other child between the listing and the kill.
        process_itself = psutil.Process(process.pid)
        process_itself.suspend()
        for child in process_itself.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.kill()
    process.kill()
    process.communicate()
