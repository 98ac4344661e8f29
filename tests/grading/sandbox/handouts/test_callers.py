"""What is read from `/proc` about the processes of a submission, of which one asks."""

import os

import pytest

from course_utils.grading.sandbox.handouts.callers import Callers

PAGE = os.sysconf("SC_PAGE_SIZE")
# By process: its parent, its page faults, its private memory in kB.
PROCESSES = {1: (0, 10, 1000), 2: (1, 100, 2000), 3: (2, 1, 4000), 4: (2, 7, 8000), 5: (3, 7, 16_000)}


@pytest.fixture
def callers(tmp_path):
    """Processes 1 to 5: 3 asks, 2 and 1 are those that it descends from, 4 and 5 are beside and below it."""
    for pid, (parent, faults, private) in PROCESSES.items():
        folder = tmp_path / "proc" / str(pid)
        (folder / "fd").mkdir(parents=True)
        (folder / "stat").write_text(f"{pid} (a name) x) S {parent} 0 0 0 0 0 {faults} 3 0")
        (folder / "io").write_text("rchar: 5\nwchar: 6")
        (folder / "smaps").write_text("00-10 rw-p 00 00:00 0\nPrivate_Dirty: 4 kB\nAnonymous: 4 kB\n")
        (folder / "smaps_rollup").write_text(f"Pss_Anon: {private} kB\nSwapPss: 0 kB")
        (folder / "maps").write_text("1000-3000 rw-s 0 00:01 77 /memfd:x (deleted)\n" if pid == 4 else "")
    return Callers(tmp_path / "proc")


def test_use_of_memory_is_split_by_process(callers):
    used = callers.usage(3)
    assert (used.copied, used.read, used.written) == (4096 + 3 * PAGE, 5, 6)
    assert used.parents == 110 * PAGE
    assert used.others == 24_000 * 1024
    assert used.stored == 0x2000
    assert (used.touched, used.others_read) == (PAGE, 20)


def test_pages_of_a_private_map_that_were_written_to_are_copies(callers, tmp_path):
    mapped = "00-10 rw-{} 00 00:00 7 /tmp/file\nPrivate_Dirty: 12 kB\nAnonymous: 16 kB\n"
    (tmp_path / "proc" / "3" / "smaps").write_text(mapped.format("p") + mapped.format("s"))
    assert callers.usage(3).copied == 12 * 1024 + 3 * PAGE


CALLS = {
    "0 0x3 0x7f 0xa 0x0 0x0 0x0 0x7ffc 0x7f": "read",
    "17 0x3 0x7f 0xa 0x5 0x0 0x0 0x7ffc 0x7f": "pread",
    "327 0x3 0x7f 0x1 0x5 0x0 0x0 0x7ffc 0x7f": "pread",
    "327 0x3 0x7f 0x1 0xffffffffffffffff 0x0 0x0 0x7ffc 0x7f": "read",
    "40 0x4 0x3 0x0 0xa 0x0 0x0 0x7ffc 0x7f": "read",
    "40 0x4 0x3 0x7f 0xa 0x0 0x0 0x7ffc 0x7f": "pread",
    "326 0x3 0x0 0x4 0x0 0xa 0x0 0x7ffc 0x7f": "read",
    "326 0x3 0x7f 0x4 0x0 0xa 0x0 0x7ffc 0x7f": "pread",
    "-1 0x7ffc 0x7f": "map",
    "": "read",
}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of system calls of another machine")
@pytest.mark.parametrize("call", CALLS)
def test_kind_of_a_read_is_that_of_its_system_call(callers, tmp_path, call):
    (tmp_path / "proc" / "3" / "syscall").write_text(call + "\n")
    assert callers.kind_of_read(3) == CALLS[call]


def test_process_that_is_gone_is_not_measured(callers):
    assert callers.usage(9) is None
