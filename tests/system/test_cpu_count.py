import os

import pytest

from course_utils.system import cpu_count

needs_affinity = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system has no affinity mask"
)


@pytest.fixture
def no_quota(monkeypatch):
    monkeypatch.setattr(cpu_count, "quota_cores", lambda: None)


def quota_of(tmp_path, listing, files):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(listing)
    for name, text in files.items():
        path = tmp_path / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return cpu_count.quota_cores(tmp_path)


@needs_affinity
def test_affinity_mask_limits_usable_cores(no_quota):
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert cpu_count.usable_cores() == 1
    finally:
        os.sched_setaffinity(0, before)


@needs_affinity
@pytest.mark.parametrize("cores", [1, 2, 5, 16])
@pytest.mark.parametrize("shares", [1, 2, 3, 16])
def test_shares_are_separate_where_there_are_cores_enough(no_quota, monkeypatch, cores, shares):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(10, 10 + cores)))
    monkeypatch.setattr(cpu_count, "_affinity_cores", lambda: cores)
    taken = []
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, share: taken.append(set(share)))
    for number in range(shares):
        cpu_count.take_share(number, shares)
    assert {len(share) for share in taken} == {max(1, cores // shares)}
    assert set().union(*taken) <= set(range(10, 10 + cores))
    assert len(set().union(*taken)) == min(cores, shares * (cores // shares) or cores)


@pytest.mark.parametrize(("quota", "expected"), [(None, 8), (2.0, 2), (1.5, 2), (0.5, 1), (64.0, 8)])
def test_smaller_of_quota_and_mask_applies(monkeypatch, quota, expected):
    monkeypatch.setattr(cpu_count, "_affinity_cores", lambda: 8)
    monkeypatch.setattr(cpu_count, "quota_cores", lambda: quota)
    assert cpu_count.usable_cores() == expected


@pytest.mark.parametrize(
    ("listing", "files", "expected"),
    [
        ("0::/job\n", {"job/cpu.max": "150000 100000\n"}, 1.5),
        ("0::/job\n", {"job/cpu.max": "max 100000\n"}, None),
        ("0::/job/step\n", {"job/cpu.max": "200000 100000", "job/step/cpu.max": "max 100000"}, 2.0),
        ("0::/job/step\n", {"job/cpu.max": "100000 100000", "job/step/cpu.max": "300000 100000"}, 1.0),
        ("0::/outside/the/container\n", {"cpu.max": "400000 100000"}, 4.0),
        (
            "3:cpu,cpuacct:/u\n",
            {"cpu,cpuacct/u/cpu.cfs_quota_us": "300000", "cpu,cpuacct/u/cpu.cfs_period_us": "100000"},
            3.0,
        ),
        ("1:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ("3:cpuset:/u\n", {"cpuset/u/cpu.max": "100000 100000"}, None),
    ],
)
def test_control_group_quota(tmp_path, listing, files, expected):
    assert quota_of(tmp_path, listing, files) == expected


def test_no_control_group_means_no_quota(tmp_path):
    assert cpu_count.quota_cores(tmp_path) is None


@pytest.mark.parametrize(
    ("requested", "says"),
    [(0, "No workers"), (1, "on 2 usable cores: 1 core left"), (2, "a core to itself"), (8, "take turns")],
)
def test_advice_depends_on_requested_workers(monkeypatch, requested, says):
    monkeypatch.setattr(cpu_count, "usable_cores", lambda: 2)
    assert says in cpu_count.worker_advice(requested)


def test_negative_number_of_workers_raises():
    with pytest.raises(ValueError, match="-3 workers"):
        cpu_count.worker_advice(-3)
