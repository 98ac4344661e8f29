"""Submissions that try to pass a wrong answer off as right."""

from tests.grading.attacks.attack import WRONG, Attack, code
from tests.grading.toy_course import cell_of


def _tagged(tag):
    def change(notebook):
        cell_of(notebook, "total").metadata["tags"] = [tag]

    return change


def _returning(expression, prelude=""):
    return Attack(f"{prelude}\ndef total_of(numbers):\n    return {expression}")


LIAR = """
class Liar(int):
    __eq__ = __le__ = __ge__ = lambda self, other: True
    __ne__ = __lt__ = __gt__ = lambda self, other: False
    __hash__ = int.__hash__
    __int__ = __index__ = lambda self: self
"""
SOCKET = """
import os, socket
for number in range(3, 64):
    try:
        channel = socket.socket(fileno=os.dup(number))
        channel.getpeername()
        break
    except OSError:
        pass
"""
SEND = (
    SOCKET
    + """
from course_utils.checks.core import evidence
def send(value, times=1):
    data = evidence.encode(value)
    for _ in range(times):
        channel.sendall(len(data).to_bytes(8, "little") + data)
"""
)

ATTACKS = {
    "tag_skip_execution": Attack(change=_tagged("skip-execution")),
    "tag_raises_exception": Attack(change=_tagged("raises-exception")),
    "tag_setup": Attack(change=_tagged("setup")),
    "input_transformer": code(
        "get_ipython().input_transformers_cleanup.append(lambda lines: ['pass\\n'])", points=0
    ),
    "ast_transformer": code(
        "import ast\nclass Nothing(ast.NodeTransformer):\n    def visit_Expr(self, node):\n"
        "        return ast.parse('pass').body[0]\nget_ipython().ast_transformers.append(Nothing())"
    ),
    "patched_ipython_run_cell": code("get_ipython().run_cell = lambda *a, **k: None", "crashed", points=0),
    "patched_ipython_class": code(
        "type(get_ipython()).run_cell = lambda *a, **k: type('R', (), {'error_before_exec': None, "
        "'error_in_exec': None})()",
        points=0,
    ),
    "patched_builtins": code(
        "import builtins\nbuiltins.isinstance = lambda *a: True\nbuiltins.type = lambda x: int",
        "crashed",
        "wrong",
    ),
    "patched_builtins_int": code("import builtins\nbuiltins.int = lambda *a: 'right'", "crashed", "wrong"),
    "patched_numpy": code("import numpy as np\nnp.array_equal = np.allclose = lambda *a, **k: True"),
    "patched_numpy_random": code("import numpy as np\nnp.random.default_rng = lambda *a: None"),
    "patched_judge": code("object.__setattr__(arithmetic.total, 'judge', lambda *a: 'The number is right.')"),
    "patched_probe": code("object.__setattr__(arithmetic.total, 'probe', lambda *a: {'value': True})"),
    "patched_make": code("object.__setattr__(arithmetic.total, 'make', lambda rng: ({}, {'sum': 0}))"),
    "patched_check_class": code(
        "from course_utils.checks.core.check import Check\nCheck.verdict = lambda *a: 'right'\n"
        "Check.__call__ = lambda *a, **k: 'right'"
    ),
    "patched_run_probe_says_right": code(
        "from course_utils.checks.core import evidence\nfrom course_utils.checks.core.check import Check\n"
        "Check.run_probe = lambda *a: evidence.encode({'verdict': 'right', 'points': 2, 'evidence': {'value': 1}})",
        points=0,
    ),
    "patched_encode": code(
        "from course_utils.checks.core import evidence\nold = evidence.encode\n"
        "evidence.encode = lambda value: old({'status': 'right', 'points': 2})",
        "crashed",
        "wrong",
        points=0,
    ),
    "pickle_to_the_judge": code(
        "import pickle, os\nfrom course_utils.checks.core.check import Check\nclass Bomb:\n    def __reduce__(self):\n"
        "        return os.system, ('touch /tmp/PICKLE_RAN',)\n"
        "Check.run_probe = lambda *a: pickle.dumps(Bomb())",
        points=0,
    ),
    "pickle_message": code(SOCKET + "import pickle\nchannel.sendall(pickle.dumps({'points': 2}))", "crashed"),
    "forged_replies": code(
        SEND + "send({'status': 'right', 'points': 2, 'error': ''}, 3)", "wrong", points=0
    ),
    "forged_evidence": code(
        SEND + "send({'evidence': evidence.encode({'evidence': {'value': 1}})}, 4)", "wrong", points=0
    ),
    "forged_kernel_message": code(
        "import json, sys\nsys.__stdout__.write(json.dumps({'msg_type': 'execute_reply', 'status': 'ok'}))"
    ),
    "evidence_bomb": code(
        "from course_utils.checks.core.check import Check\nimport json\n"
        "header = json.dumps([{'bytes': [0, 2**20]}] * 100000).encode()\n"
        "Check.run_probe = lambda *a: len(header).to_bytes(8, 'little') + header + bytes(2**20)",
        points=0,
    ),
    "deep_evidence": code(
        "from course_utils.checks.core.check import Check\n"
        "header = b'[' * 500000\n"
        "Check.run_probe = lambda *a: len(header).to_bytes(8, 'little') + header",
        points=0,
    ),
    "evidence_of_other_types": code(
        "from course_utils.checks.core import evidence\nfrom course_utils.checks.core.check import Check\n"
        "Check.run_probe = lambda *a: evidence.encode({'evidence': [None, {'value': float('nan')}]})",
        points=0,
    ),
    "int_with_overridden_comparisons": _returning("Liar(0)", LIAR),
    "object_whose_int_is_a_bool": _returning(
        "Any()", "class Any:\n    def __int__(self):\n        return True"
    ),
    "true": _returning("True"),
    "nan": _returning("float('nan')"),
    "infinity": _returning("float('inf')"),
    "huge_number": _returning("10 ** 6000"),
    "none": _returning("None"),
    "mock": _returning("MagicMock()", "from unittest.mock import MagicMock"),
    "lying_array": _returning(
        "np.array([0]).view(Lie)",
        "import numpy as np\nclass Lie(np.ndarray):\n    def __array_function__(self, *a):\n        return True\n"
        "    __eq__ = lambda self, other: True",
    ),
    "torch_function": _returning(
        "Lie()",
        "class Lie:\n    @classmethod\n    def __torch_function__(cls, *a, **k):\n        return True\n"
        "    __eq__ = lambda self, other: True",
    ),
    "exit_in_the_probe": _returning("sys.exit(0)", "import sys"),
    "exit_of_the_process_in_the_probe": Attack(
        "import os\ndef total_of(numbers):\n    os._exit(0)", statuses=("crashed",)
    ),
    "raises_a_verdict": _returning(
        "fail()",
        "from course_utils.checks.core.check import CheckPassed\ndef fail():\n"
        "    raise type('Right', (Exception,), {})('✓ The number is right.')",
    ),
    "prints_a_verdict": code("print('✓ The number is right.   2 of 2 points')"),
    "shows_a_verdict": code(
        "from IPython.display import HTML, display\ndisplay(HTML('<b>2 of 2 points</b>'))"
    ),
    "replaced_checks_name": code("arithmetic = type('fake', (), {'total': lambda *a: '✓'})"),
    "replaced_checks_module": code(
        "import sys, types\nfrom course_utils.checks.core.check import Check\nfake = types.ModuleType('fake')\n"
        "fake.total = Check(None, lambda inputs, answer: {'value': 'right'}, lambda *a: 'right')\n"
        "sys.modules['toy_checks.arithmetic'] = fake",
        points=0,
    ),
    "patched_import": code("import importlib\nimportlib.import_module = lambda name: None", points=0),
    "thread_that_patches": code(
        "import threading\nfrom course_utils.checks.core.check import Check\ndef patch():\n    while True:\n"
        "        Check.verdict = lambda *a: 'right'\nthreading.Thread(target=patch, daemon=True).start()"
    ),
    "fork_that_answers_too": code("import os\nos.fork()", "wrong", "crashed", points=-1),
    "profile_hook": code("import sys\nsys.setprofile(lambda *a: None)\nsys.settrace(lambda *a: None)"),
    "at_exit": code("import atexit\natexit.register(lambda: print('✓ 2 of 2 points'))"),
    "wrong_and_nothing_else": Attack(WRONG),
}
