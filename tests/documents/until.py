"""Run a command until it prints a match of a pattern, then press Ctrl-C: until.py PATTERN COMMAND."""

import os
import re
import signal
import subprocess
import sys

pattern, command = sys.argv[1:]
process = subprocess.Popen(
    ["bash", "-c", command],
    stdout=subprocess.PIPE,
    stderr=subprocess.STDOUT,
    text=True,
    start_new_session=True,  # a group of its own, as a terminal gives it
)
found = False
for line in process.stdout or ():
    sys.stdout.write(line)
    if re.search(pattern, line.rstrip()):
        found = True
        break
if found:
    os.killpg(process.pid, signal.SIGINT)
    os.killpg(process.pid, signal.SIGTERM)
sys.stdout.write(process.communicate()[0] or "")
sys.exit(not found)
