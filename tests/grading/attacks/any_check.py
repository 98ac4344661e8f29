"""Code that attacks whatever check comes next; it stands before a wrong answer, which must stay wrong.

`check` and `module` are the check and its module, as far as the student's process has them.
"""

FIND = """
import sys
import course_utils.checks.{lesson}
module = sys.modules.get("course_utils.checks.{lesson}.{exercise}")
check = getattr(course_utils.checks.{lesson}, "{exercise}", None)
"""

ATTACKS = {
    "judge_says_right": 'vars(check)["judge"] = lambda *everything: "right"\n',
    "verdict_says_right": """
from course_utils.checks.core import check as core
core.Check.verdict = core.Check.__call__ = lambda *everything, **options: "right"
""",
    "no_mistake_can_be_raised": """
from course_utils.checks.core import check as core
class Nothing(Exception):
    def __init__(self, *everything):
        raise SystemExit(0)
core.Mistake = module.Mistake = Nothing
""",
    "evidence_is_empty": """
from course_utils.checks.core import check as core, evidence
empty = evidence.encode({"evidence": None})
core.Check.run_probe = lambda *everything: empty
""",
    "evidence_says_right": """
from course_utils.checks.core import check as core, evidence
right = evidence.encode({"status": "right", "points": 100, "evidence": {"right": True}})
core.Check.run_probe = lambda *everything: right
""",
    "crash_is_no_crash": """
from course_utils.checks.core import check as core, evidence
core.crash_report = lambda error: ""
real = core.Check.run_probe
core.Check.run_probe = lambda *everything: real(*everything).replace(b"crash", b"evidence")
""",
    "inputs_are_emptied": """
from course_utils.checks.core import evidence
real = evidence.decode
def empty(value):
    if isinstance(value, dict):
        return {key: empty(part) for key, part in value.items()}
    return [] if isinstance(value, list) else value
evidence.decode = lambda data, *rest: empty(real(data, *rest))
""",
    "inputs_are_cut_to_one": """
from course_utils.checks.core import evidence
real = evidence.decode
def cut(value):
    if isinstance(value, dict):
        return {key: cut(part) for key, part in value.items()}
    return [cut(part) for part in value[:1]] if isinstance(value, list) else value
evidence.decode = lambda data, *rest: cut(real(data, *rest))
""",
    "builtins_lie": """
import builtins
real_len, real_sum = len, sum
builtins.any = lambda things: False
builtins.all = lambda things: True
builtins.sum = lambda things, *rest: 0
""",
    "arrays_are_always_equal": """
import numpy, torch
numpy.array_equal = numpy.allclose = lambda *everything, **options: True
torch.equal = torch.allclose = lambda *everything, **options: True
""",
    "process_ends_with_success": """
import os
from course_utils.checks.core import check as core
core.Check.run_probe = lambda *everything: os._exit(0)
""",
    "channel_is_answered_in_advance": """
import os, socket
from course_utils.checks.core import evidence
for number in range(3, 256):
    try:
        channel = socket.socket(fileno=os.dup(number))
        channel.getsockname()
    except OSError:
        continue
    channel.setblocking(False)
    data = evidence.encode({"evidence": evidence.encode({"evidence": {}}), "text": "", "pictures": []})
    try:
        channel.send(len(data).to_bytes(8, "little") + data)
    except OSError:
        pass
""",
    "probe_runs_under_a_tracer": """
import sys
def tracer(frame, event, argument):
    if frame.f_code.co_name == "probe" and event == "return" and isinstance(argument, dict):
        for key, value in argument.items():
            argument[key] = [] if isinstance(value, list) else 0 if isinstance(value, int) else value
    return tracer
sys.settrace(tracer)
""",
    "errors_do_not_pass": """
from course_utils.checks.core import observe
observe.attempt = lambda action: {"value": None}
for name in ("attempt", "record_image", "value_of"):
    if hasattr(module, name):
        setattr(module, name, lambda *everything: {"value": 0})
""",
    "recorder_is_blind": """
from course_utils.checks.core import file_recorder
file_recorder.FileRecorder.record = lambda *everything, **options: None
""",
    "world_is_asked_nonsense": """
import gc, threading
from course_utils.checks.world.handle import Handle
def ask():
    for _ in range(200):
        for handle in [one for one in gc.get_objects() if type(one) is Handle]:
            for name in ("item", "returned", "answer", "record", "__init__", "caller", "synchronize", "draw"):
                for arguments in ((), (2**200,), (b"x" * 10**6,), ([[[]]] * 99,), (-1, -1), ("a", None, 1.5)):
                    try:
                        handle.call(name, *arguments)
                    except Exception:
                        pass
threading.Thread(target=ask, daemon=True).start()
""",
    "world_answers_are_invented": """
from course_utils.checks.world import handle as room
room.Handle.call = lambda self, method, *arguments: 0
""",
    "world_answers_are_remembered": """
from course_utils.checks.world import handle as room
real, known = room.Handle.call, {}
def call(self, method, *arguments):
    key = (method, repr(arguments))
    if key not in known:
        known[key] = real(self, method, *arguments)
    return known[key]
room.Handle.call = call
""",
    "world_address_is_taken_over": """
import gc, os, socket, threading
from course_utils.checks.world import handle as room
real = room.Handle.__init__
def take_over(self, address, *rest, **options):
    real(self, address, *rest, **options)
    try:
        os.rename(address, address + ".old")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(address)
        listener.listen()
        threading.Thread(target=lambda: [listener.accept() for _ in range(9)], daemon=True).start()
    except OSError:
        pass
room.Handle.__init__ = take_over
""",
    "world_is_flooded_by_children": """
import os, socket
from course_utils.checks.world import handle as room
real = room.Handle.__init__
def flood(self, address, *rest, **options):
    real(self, address, *rest, **options)
    if os.fork() == 0:
        held = []
        for _ in range(2000):
            try:
                one = socket.socket(socket.AF_UNIX)
                one.settimeout(0.1)
                one.connect(address)
                one.sendall(b"\\xff" * 100)
                held.append(one)
            except OSError:
                break
        os._exit(0)
room.Handle.__init__ = flood
""",
}
