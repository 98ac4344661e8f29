"""The batch script with stand-ins of Slurm's commands, and of the training, which takes seconds to start."""

import datetime
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from course_utils.distributed.__main__ import main
from course_utils.distributed.batch import PRESETS, JobScript, run_without_slurm

# In place of Python: says which rank it is; ends at once, or when the signal comes.
STAND_IN = """\
#!/bin/bash
if [ "$2" = course_utils.scratch ]; then
    echo "task $SLURM_PROCID of $SLURM_NTASKS stages $4" >&2
    [ "$4" = part0.zip ] && echo "$COPY" || exit 4
    exit
fi
echo "$3: rank $RANK of $WORLD_SIZE, node $LOCAL_RANK, start $SLURM_RESTART_COUNT"
trap 'exit 0' USR1
touch "$5/rank$RANK of start $SLURM_RESTART_COUNT"
case "$SLURM_RESTART_COUNT:$6" in
0:fails) exit 3 ;;
*:hangs) sleep 60 & wait ;;
1:*) touch "$5/complete" ;;
*) sleep 60 & wait ;;
esac
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a space in its name; `python` is the stand-in."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").write_text(STAND_IN)
    (tmp_path / "bin/python").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin/python"))
    (tmp_path / "my run").mkdir()
    return tmp_path / "my run"


def written(folder, *options, pack="part0.zip", **settings):
    script = JobScript(Path(pack), folder, PRESETS["cpu"], options, **settings)
    (folder / "job.sh").write_text(script.text)
    return folder / "job.sh"


def test_stopped_job_is_queued_again_until_it_is_complete(folder):
    ranks = [folder / f"rank{rank} of start 0" for rank in range(2)]
    run = run_without_slurm(written(folder), [lambda: all(rank.exists() for rank in ranks)])
    assert (run.starts, run.status) == (2, 0)
    assert sorted(run.output.splitlines()) == [
        f"part0.zip: rank {rank} of 2, node {rank}, start {start}" for rank in range(2) for start in range(2)
    ]


def test_failed_job_is_not_queued_again(folder):
    run = run_without_slurm(written(folder, "fails"))
    assert (run.starts, run.status) == (1, 3)


def test_each_start_stages_the_pack_once_a_node_and_all_ranks_read_the_copy(folder, monkeypatch):
    copy = folder / "a copy"
    copy.touch()
    monkeypatch.setenv("COPY", str(copy))
    ranks = [folder / f"rank{rank} of start 0" for rank in range(2)]
    run = run_without_slurm(written(folder, stage=True), [lambda: all(rank.exists() for rank in ranks)])
    assert (run.starts, run.status) == (2, 0)
    lines = run.output.splitlines()
    assert [line for line in lines if line.startswith("task")] == ["task 0 of 1 stages part0.zip"] * 2
    assert sum(line.startswith(f"{copy}: rank") for line in lines) == 4


@pytest.mark.parametrize(
    ("pack", "copies", "status", "told"),
    [("no.zip", "", 4, "stages no.zip"), ("part0.zip", "/tmp/one\n/tmp/two", 1, "in different places")],
)
def test_without_a_copy_on_each_node_no_rank_starts(folder, monkeypatch, pack, copies, status, told):
    monkeypatch.setenv("COPY", copies)
    run = run_without_slurm(written(folder, pack=pack, stage=True))
    assert (run.starts, run.status) == (1, status)
    assert told in run.output
    assert ": rank" not in run.output


def test_nothing_is_left_running_after_the_limit(folder):
    with pytest.raises(TimeoutError, match="took too long"):
        run_without_slurm(written(folder, "hangs"), limit=0.5)
    for _ in range(100):
        left = [one for one in psutil.Process().children(recursive=True) if one.name() in ("bash", "sleep")]
        if not left:
            return
        time.sleep(0.05)
    raise AssertionError(left)


def test_script_asks_for_what_the_preset_says():
    text = JobScript(Path("a.zip"), Path("run"), PRESETS["snellius"], nodes=3, account="abc").text
    asked = [line for line in text.splitlines() if line.startswith("#SBATCH")]
    for option in ("nodes=3", "gpus-per-node=4", "partition=gpu_a100", "account=abc", "signal=B:USR1@120"):
        assert any(line.startswith(f"#SBATCH --{option}") for line in asked), option
    assert "constraint" not in text
    text = JobScript(Path("a.zip"), Path("run"), PRESETS["snellius"], stage=True).text
    assert "#SBATCH --constraint=scratch-node\n" in text
    assert "course_utils.scratch stage a.zip --preset snellius)" in text
    assert "gpus" not in JobScript(Path("a.zip"), Path("run"), PRESETS["cpu"]).text


@pytest.mark.parametrize("stage", [False, True])
@pytest.mark.parametrize("name", PRESETS)
def test_scripts_are_valid_and_presets_have_a_source(name, stage):
    text = JobScript(Path("my pack.zip"), Path("my run"), PRESETS[name], ("--epochs", "3"), stage=stage).text
    assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0
    pack = '"$copy"' if stage else "'my pack.zip'"
    assert f"{pack} --folder 'my run' --epochs 3" in text
    assert "'my pack.zip'" in text
    if name != "cpu":
        assert PRESETS[name].source.startswith("https://")
        assert datetime.date.fromisoformat(PRESETS[name].read)


def test_dry_run_prints_the_script_and_writes_nothing(tmp_path, capsys):
    command = ["batch-script", "a.zip", "--folder", str(tmp_path / "run"), "--batch-size", "64"]
    assert main([*command, "--dry-run"]) == 0
    assert "--batch-size 64" in capsys.readouterr().out
    assert not (tmp_path / "run").exists()
    assert main([*command, "--dry-run", "--stage"]) == 0
    assert "course_utils.scratch stage a.zip" in capsys.readouterr().out
    assert main([*command, "--ranks-per-node", "5"]) == 0
    assert "ntasks-per-node=5" in (tmp_path / "run/job.sh").read_text()
