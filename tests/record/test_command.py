"""The command: a quick record of this machine's file system, a killed run that continues, a check."""

import json
import time
from functools import partial

import pytest

from course_utils.paths import data_dir
from course_utils.record import command, faults
from course_utils.record.schema import decode
from course_utils.record.store import RecordError, begun, save
from tests.record.samples import VALUES, complete, plain, rounds


@pytest.fixture
def machine(monkeypatch):
    """No GPU, wherever this runs."""
    monkeypatch.setattr(command.torch.cuda, "is_available", lambda: False)


def test_quick_record_of_this_machine_is_complete_and_names_nobody(tmp_path, capsys, machine):
    out = tmp_path / "quick.json"
    assert command.main(["--quick", "--out", str(out)]) == 0
    assert not faults(out.read_bytes())
    record = decode(out.read_bytes())
    assert record.command == "python -m course_utils.record --quick"
    assert record.settings.set == len(list((data_dir() / "disk_transformed").glob("*.JPEG")))
    assert {name: part.missing for name, part in record.parts.items() if part.missing} == dict.fromkeys(
        ("transfers", "overlap", "steps"), "no CUDA device"
    )
    assert str(data_dir()) not in out.read_text()
    printed = capsys.readouterr().out
    assert "round 1 of 1, operations" in printed
    assert f"written to {out}" in printed
    before = out.read_bytes()
    assert command.main(["--quick", "--out", str(out)]) == 0
    assert out.read_bytes() == before  # nothing was left to measure
    assert command.main(["--check", str(out)]) == 0


class Killed:
    """Measures of all parts, of which the run is killed after some."""

    def __init__(self, after):
        self.after, self.calls = after, []
        self.measures = {name: partial(self.measure, name) for name in VALUES}

    def measure(self, name, number):
        if len(self.calls) == self.after:
            raise KeyboardInterrupt
        self.calls.append((name, number))
        return rounds(name)[number].values


SWEEPS = [(name, number) for number in range(2) for name in VALUES]


@pytest.mark.parametrize("after", range(len(SWEEPS)))
def test_killed_run_keeps_what_it_has_measured(tmp_path, after):
    path, fresh = tmp_path / "record.json", complete()
    for part in fresh.parts.values():
        part.rounds.clear()
    save(path, fresh)
    first, second = Killed(after), Killed(None)
    with pytest.raises(KeyboardInterrupt):
        command.run(path, fresh, first.measures, interval=0)
    command.run(path, begun(path, fresh), second.measures, interval=0)
    assert first.calls + second.calls == SWEEPS
    assert not faults(path.read_bytes())


def test_rounds_are_spread_over_time(tmp_path):
    record, now, slept = complete(), [0.0], []
    for part in record.parts.values():
        part.rounds.clear()

    def measure(number):
        now[0] += 10 + 30 * number  # the second round takes longer than the interval
        return VALUES["epochs"]

    record.settings.rounds = 3
    command.run(tmp_path / "record.json", record, {"epochs": measure}, 30, slept.append, lambda: now[0])
    assert slept == [20]


@pytest.mark.parametrize("changed", ["machine", "settings", "versions"])
def test_record_of_something_else_is_not_continued(tmp_path, changed):
    path, other = tmp_path / "record.json", complete()
    save(path, other)
    setattr(other, changed, {"machine": None, "settings": None, "versions": {}}[changed])
    with pytest.raises(RecordError, match=f"another {changed}. Move it away"):
        begun(path, other)


@pytest.mark.parametrize("damage", [b"{", b'{"format": "x", "version": 2}'])
def test_damaged_record_is_neither_continued_nor_overwritten(tmp_path, damage):
    path = tmp_path / "record.json"
    path.write_bytes(damage)
    with pytest.raises(RecordError, match="Move it away"):
        begun(path, complete())
    assert path.read_bytes() == damage


def test_folder_that_cannot_be_written_leads_to_out(tmp_path, machine, capsys):
    assert command.main(["--quick", "--out", str(tmp_path / "no" / "such" / "folder.json")]) == 1
    assert "name a file of your own by --out" in capsys.readouterr().err


def test_check_names_what_is_wrong_and_fails(tmp_path, capsys):
    path = tmp_path / "record.json"
    data = plain()
    data["parts"]["epochs"]["unit"] = "ms"
    path.write_text(json.dumps(data))
    assert command.main(["--check", str(path)]) == 1
    assert capsys.readouterr().out == f"{path}: epochs: its unit is 's per image', not 'ms'\n"
    assert command.main(["--check", str(tmp_path / "none")]) == 1


def test_without_data_the_advice_is_how_to_make_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    assert command.main([]) == 1
    assert "make data" in capsys.readouterr().err


def test_set_without_a_form_is_named(tmp_path, monkeypatch, machine, capsys):
    for form in ("disk_transformed", "zip_encoded", "zip"):
        (tmp_path / form).mkdir()
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    assert command.main([]) == 1
    assert "disk_transformed holds no *.JPEG" in capsys.readouterr().err


def test_record_of_a_machine_with_a_gpu_has_its_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(command.torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(command.torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(command.torch.cuda, "get_device_name", lambda: "A GPU")
    # One that does nothing would be faster than a record may say.
    slow = {"cuda": lambda files: [time.sleep(0.001) for _ in files]}
    monkeypatch.setattr(command.gpu, "decoders", lambda device: slow)
    monkeypatch.setattr(command.FileSystem, "operations", lambda self, number: VALUES["operations"])
    measures = {name: lambda number, name=name: VALUES[name] for name in ("transfers", "overlap", "steps")}
    monkeypatch.setattr(command.gpu, "measures", lambda cuda, device, folder: measures)
    out = tmp_path / "record.json"
    assert command.main(["--quick", "--out", str(out)]) == 0
    record = decode(out.read_bytes())
    assert not faults(out.read_bytes())
    assert record.machine.gpu == "A GPU"
    assert list(record.parts["decoding"].rounds[0].values) == ["cuda"]
    assert record.values("overlap", "two streams") == [3.1]


def test_record_lies_beside_the_data_and_a_quick_one_is_not_shown(tmp_path, monkeypatch, machine):
    source = data_dir()
    for form in ("disk_transformed", "zip_encoded", "zip"):
        (tmp_path / form).symlink_to(source / form)
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    assert command.main(["--quick"]) == 0
    assert [path.name.split("_")[0] for path in (tmp_path / ".records").iterdir()] == ["quick"]
