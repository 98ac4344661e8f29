from dataclasses import replace

import pytest

from course_utils.scratch import __main__ as command
from course_utils.scratch import presets
from course_utils.scratch.__main__ import main
from course_utils.scratch.storage_kind import storage_of


@pytest.fixture
def source(tmp_path):
    (tmp_path / "set.squashfs").write_bytes(b"packed" * 100)
    (tmp_path / "scratch").mkdir()
    return tmp_path / "set.squashfs"


def test_prints_the_path_alone(source, tmp_path, capsys):
    assert main(["stage", str(source), "--scratch", str(tmp_path / "scratch")]) == 0
    assert capsys.readouterr().out.strip() == str(
        next((tmp_path / "scratch").glob("staged-*/*/data/set.squashfs"))
    )


def test_dry_run_tells_the_plan_and_changes_nothing(source, tmp_path, capsys):
    assert main(["stage", str(source), "--scratch", str(tmp_path / "scratch"), "--dry-run"]) == 0
    plan = capsys.readouterr().out
    assert all(line in plan for line in ("bytes:   600", "sbcast --preserve", "mount:", "once per node"))
    assert not list((tmp_path / "scratch").iterdir())


def test_dry_run_sees_what_is_staged(source, tmp_path, capsys):
    options = ["stage", str(source), "--scratch", str(tmp_path / "scratch")]
    main(options)
    main([*options, "--dry-run"])
    assert "is there already" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["stage", "/no/such"], ["stage", "/", "--preset", "mars"]])
def test_an_error_is_one_line(arguments, capsys):
    assert main(arguments) == 1
    assert capsys.readouterr().err.startswith("scratch: ")


def test_sbcast_outside_of_a_job_is_refused(source, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    assert main(["stage", str(source), "--scratch", str(tmp_path / "scratch"), "--sbcast"]) == 1
    assert "--dry-run" in capsys.readouterr().err


def test_staging_names_a_file_system_on_the_network_and_when_it_is_emptied(
    source, tmp_path, capsys, monkeypatch
):
    """What Snellius calls /scratch-local, where no disk of the node was asked for."""
    scratch = tmp_path / "scratch"
    shared = replace(storage_of(scratch), kind="network", file_system="gpfs")
    monkeypatch.setattr(command, "storage_of", lambda path: shared)
    [local, _] = presets.EXPIRIES
    monkeypatch.setattr(presets, "EXPIRIES", [local._replace(folder=str(scratch))])
    options = ["stage", str(source), "--scratch", str(scratch)]
    assert main([*options, "--dry-run"]) == 0
    assert "older than 6 days" in capsys.readouterr().err
    assert main(options) == 0
    told = capsys.readouterr().err
    assert "on the network (gpfs), which other nodes use" in told
    assert "older than 6 days" in told


def test_where_and_presets_say_something_of_each(tmp_path, capsys):
    assert main(["where", str(tmp_path), "/"]) == 0
    assert main(["presets"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2 + 2 * 6
