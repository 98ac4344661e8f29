"""Lesson 01 says the same on a file system like Lustre, which asks for blocks of 4 MiB.

A library that is loaded into every process reports that size for all files, so that Python's own buffers have
it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lessons.lesson import COURSE

LESSON = COURSE / "solutions/01_jpeg_vs_zip/01_jpeg_vs_zip.ipynb"
COMPILER = shutil.which("cc") or shutil.which("gcc")
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/stat.h>

#define REPORT(name, arguments, ...)                                         \
    int name arguments {                                                           \
        int (*original) arguments = (int (*) arguments)dlsym(RTLD_NEXT, #name);    \
        int result = original(__VA_ARGS__);                                        \
        if (!result && S_ISREG(status->st_mode)) status->st_blksize = 4 << 20;     \
        return result;                                                             \
    }

REPORT(stat, (const char *path, struct stat *status), path, status)
REPORT(fstat, (int fd, struct stat *status), fd, status)
REPORT(stat64, (const char *path, struct stat64 *status), path, status)
REPORT(fstat64, (int fd, struct stat64 *status), fd, status)
"""
FETCHED = "file = open(__import__('sys').argv[1], 'rb'); file.read(1); print(file.raw.tell())"

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(sys.platform != "linux" or not COMPILER, reason="needs Linux and a C compiler"),
]


@pytest.fixture(scope="module")
def large_blocks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process for which every file has blocks of 4 MiB."""
    folder = tmp_path_factory.mktemp("shim")
    source, library = folder / "shim.c", folder / "shim.so"
    source.write_text(SHIM)
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return os.environ | {"LD_PRELOAD": str(library)}


def test_a_python_with_large_blocks_fetches_4_mib_for_a_byte(large_blocks: dict[str, str], tmp_path: Path):
    """A test of the test."""
    (tmp_path / "file").write_bytes(bytes(5 << 20))
    command = [sys.executable, "-c", FETCHED, tmp_path / "file"]
    done = subprocess.run(command, env=large_blocks, capture_output=True, text=True, check=True)
    assert int(done.stdout) == 4 << 20


@pytest.mark.whole
def test_lesson_prints_the_same_with_large_blocks(large_blocks: dict[str, str]):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "", LESSON]
    done = subprocess.run(command, cwd=COURSE, env=large_blocks, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
