import sys
from pathlib import Path

import pytest

from course_utils.system import available_memory


def available(root: Path, listing: str | None, files: dict[str, str], kib: int = 1000) -> int:
    texts = {f"sys/fs/cgroup/{name}": text for name, text in files.items()}
    texts["proc/meminfo"] = f"MemTotal: 9999 kB\nMemAvailable:    {kib} kB\n"
    if listing is not None:
        texts["proc/self/cgroup"] = listing
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return available_memory(root)


def version_2(limit: str, used: int, cached: int) -> dict[str, str]:
    return {"memory.max": limit, "memory.current": f"{used}\n", "memory.stat": f"anon 7\nfile {cached}\n"}


@pytest.mark.parametrize(
    ("listing", "files", "expected"),
    [
        (None, {}, 1_024_000),
        ("0::/\n", version_2("max\n", 10, 0), 1_024_000),
        ("0::/\n", version_2("500000\n", 300_000, 120_000), 320_000),
        ("0::/\n", version_2("500000\n", 600_000, 0), 0),
        ("0::/\n", version_2("9000000\n", 0, 0), 1_024_000),
        (
            "0::/job/step\n",
            {f"job/{name}": text for name, text in version_2("400000\n", 1, 1).items()}
            | {f"job/step/{name}": text for name, text in version_2("max\n", 1, 1).items()},
            400_000,
        ),
        (
            "5:memory:/job\n",
            {
                "memory/job/memory.limit_in_bytes": "500000\n",
                "memory/job/memory.usage_in_bytes": "300000\n",
                "memory/job/memory.stat": "cache 1\ntotal_cache 100000\n",
            },
            300_000,
        ),
        (
            "4:cpu:/job\n",
            {"cpu/job/memory.limit_in_bytes": "1\n", "cpu/job/memory.usage_in_bytes": "1\n"},
            1_024_000,
        ),
    ],
)
def test_the_least_of_the_machine_and_its_control_groups(tmp_path, listing, files, expected):
    assert available(tmp_path, listing, files) == expected


def test_a_system_that_does_not_tell_has_none(tmp_path):
    assert available_memory(tmp_path) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_this_machine_has_some():
    assert available_memory() > 2**20
