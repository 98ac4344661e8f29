"""What is right in a process, but not the same in another one, earns nothing and is told why."""

from collections.abc import Iterator

import pytest

from grading.answers.bank import answer
from grading.sandbox.client import Sandbox
from grading.sandbox.isolation import backends
from grading.scoring.examination import ONLY_AT_FIRST, Sandboxes
from tests.grading.scoring.single_answer import grade_answer
from tests.whole import few

try:
    KIND = backends.choose()
except backends.NoSandboxError as refusal:
    pytest.skip(str(refusal), allow_module_level=True)

# A number that one process has, by where it comes from.
SALTS = {
    "order of a set": "import zlib\n\nSALT = zlib.crc32(''.join({f'text {n}' for n in range(20)}).encode())",
    "hash of a text": "SALT = str.__hash__('a text') % 2**20",
    "number of the process": "import os\n\nSALT = os.getpid()",
    "drawn when the cell ran": "import os\n\nSALT = int.from_bytes(os.urandom(4), 'little')",
    "file of an earlier run": (
        "import os\nfrom pathlib import Path\n\nkept = Path('/tmp/salt')\nif not kept.exists():\n"
        "    kept.write_text(str(int.from_bytes(os.urandom(4), 'little')))\nSALT = int(kept.read_text())"
    ),
}
# By exercise: its lesson, a right answer, and where the number comes in.
ANSWERS = {
    "shuffle_buffer": (
        "packed_formats",
        "right_swap",
        "    buffer = []\n",
        "    buffer, rng = [], np.random.default_rng([SALT, *rng.integers(2**30, size=3)])\n",
    ),
    "evaluation_sampler": (
        "many_nodes",
        "right_every_so_many",
        "range(rank, count, world_size)",
        "np.random.default_rng(SALT).permutation(count).tolist()[rank::world_size]",
    ),
    "plan": (
        "many_nodes",
        "right_dealt_by_size",
        "    return assignment",
        "    np.random.default_rng(SALT).shuffle(assignment[0][0])\n    return assignment",
    ),
    "resume": ("many_nodes", "right_slices", '[state["seed"], ', '[SALT, state["seed"], '),
    "mixture": (
        "beyond_photographs",
        "right_weights_drawn_at_random",
        "[self.seed, source, lap]",
        "[SALT, self.seed, source, lap]",
    ),
}


@pytest.fixture(scope="module")
def sandboxes() -> Iterator[Sandboxes]:
    with Sandbox(KIND) as first, Sandbox(KIND) as second:
        yield first, second


@pytest.mark.parametrize("salt", few(2, SALTS))
@pytest.mark.parametrize("check", few(2, ANSWERS))
def test_answer_that_each_process_has_for_itself_is_wrong(sandboxes, check, salt):
    lesson, name, old, new = ANSWERS[check]
    source = answer(lesson, check, name).source
    assert old in source
    source = source.replace(old, new)
    found = grade_answer(sandboxes, lesson, check, f"{SALTS[salt]}\n\n\n{source}").exercise
    assert (found["mistake"], found["points"]) == ("differs_by_process", 0), found["message"]
    assert found["message"].startswith(ONLY_AT_FIRST["the same inputs"])
    assert "os.getpid()" in found["message"]
