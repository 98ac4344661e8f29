"""Only what this user has staged is trusted, and only if it is as it was made."""

import json
import os
from pathlib import Path

import pytest

from course_utils.scratch.__main__ import main
from course_utils.scratch.presets import ScratchError
from course_utils.scratch.staged_set import place_of
from course_utils.scratch.staging import stage_set
from course_utils.system import in_child
from tests.scratch.files import files_of

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
STRANGER = 65534


@pytest.fixture
def source(tmp_path):
    (tmp_path / "set" / "a").mkdir(parents=True)
    (tmp_path / "set" / "a" / "one.bin").write_bytes(b"one")
    (tmp_path / "set" / "two.bin").write_bytes(b"two")
    return tmp_path / "set"


@pytest.fixture
def scratch(tmp_path):
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


def test_the_folder_of_a_user_is_closed_to_others(source, scratch):
    path = stage_set(source, scratch).path
    own = scratch / f"staged-{os.geteuid()}"
    assert path.is_relative_to(own)
    assert own.stat().st_mode & 0o777 == 0o700


def forge(source: Path, scratch: Path) -> Path:
    """Make a set as `stage_set` does, with other content in it; return the folder of the user."""
    staged = stage_set(source, scratch).path
    (staged / "two.bin").write_bytes(b"bad")
    manifest = staged.parent.parent / "manifest.json"
    facts = json.loads(manifest.read_text())
    facts["files"]["set/two.bin"][1] = "91f17df1e4ac0bac4b5b2aa4cf5b8d0b4a2ee3d0a2e6d2d8d9b8b2f4f9a6f5d4"
    manifest.write_text(json.dumps(facts))
    return place_of(source, scratch, "files").own


@as_root
@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize("which", ["user", "set"])
def test_a_folder_of_another_user_is_refused(source, scratch, verify, which):
    own = forge(source, scratch)
    os.chown(own if which == "user" else place_of(source, scratch, "files").folder, STRANGER, STRANGER)
    with pytest.raises(ScratchError, match=r"belongs to .*--scratch"):
        stage_set(source, scratch, verify=verify)


@as_root
def test_users_do_not_share_a_set(source, scratch):
    for path in (scratch, *scratch.parents):
        if path.is_relative_to("/tmp/pytest-of-root"):
            path.chmod(0o755)
    scratch.chmod(0o1777)
    first = stage_set(source, scratch).path

    def stage() -> str:
        os.setegid(STRANGER)
        os.seteuid(STRANGER)
        staged = stage_set(source, scratch)
        assert staged.copied
        return str(staged.path)

    assert in_child(stage) != str(first)


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_can_write_is_refused(source, scratch, mode):
    forge(source, scratch).chmod(mode)
    with pytest.raises(ScratchError, match="open to other users"):
        stage_set(source, scratch)


def test_a_link_in_place_of_the_folder_is_refused(source, scratch, tmp_path):
    own = forge(source, scratch)
    own.rename(tmp_path / "elsewhere")
    own.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ScratchError, match="is no folder"):
        stage_set(source, scratch)


def change(path: Path, how: str) -> None:
    data = path.parent
    match how:
        case "extra file":
            (path / "a" / "stray.bin").write_bytes(b"stray")
        case "extra folder":
            (path / "stray").mkdir()
        case "extra beside the data":
            (data / "stray").write_bytes(b"stray")
        case "extra beside the manifest":
            (data.parent / "stray").write_bytes(b"stray")
        case "missing file":
            (path / "two.bin").unlink()
        case "missing folder":
            (path / "a" / "one.bin").unlink()
            (path / "a").rmdir()
        case "link for a file":
            (path / "two.bin").rename(path.parent.parent.parent / "two.bin")
            (path / "two.bin").symlink_to(path.parent.parent.parent / "two.bin")
        case "pipe for a file":
            (path / "two.bin").unlink()
            os.mkfifo(path / "two.bin")
        case "size":
            (path / "two.bin").write_bytes(b"three")
        case "bytes":
            (path / "two.bin").write_bytes(b"TWO")
        case "pipe for the manifest":
            (data.parent / "manifest.json").unlink()
            os.mkfifo(data.parent / "manifest.json")
        case "bytes of the manifest":
            (data.parent / "manifest.json").write_bytes(b'{"files": {"set": [1, 2, 3]}}')


CHANGES = [
    *("extra file", "extra folder", "extra beside the data", "extra beside the manifest", "missing file"),
    *("missing folder", "link for a file", "pipe for a file", "size", "bytes", "bytes of the manifest"),
    "pipe for the manifest",
]


@pytest.mark.parametrize("how", CHANGES)
def test_a_set_that_is_not_as_it_was_made_is_made_anew(source, scratch, how):
    staged = stage_set(source, scratch)
    change(staged.path, how)
    said: list[str] = []
    again = stage_set(source, scratch, verify=how == "bytes", replaces=said.append)
    assert again.copied
    assert len(said) == 1
    assert files_of(again.path) == files_of(source)
    assert not stage_set(source, scratch, verify=True).copied


def test_the_command_says_what_is_wrong_with_a_set(source, scratch, capsys):
    stray = stage_set(source, scratch).path / "stray.bin"
    stray.write_bytes(b"stray")
    assert main(["stage", str(source), "--scratch", str(scratch), "--verify"]) == 0
    assert "stray.bin is extra" in capsys.readouterr().err
    assert not stray.exists()


def test_the_command_prints_a_path_that_is_not_utf_8(scratch, tmp_path, capfdbinary):
    name = os.fsdecode(b"caf\xe9.bin")
    try:
        (tmp_path / name).write_bytes(b"data")
    except OSError:
        pytest.skip("this file system has no such names")
    assert main(["stage", str(tmp_path / name), "--scratch", str(scratch)]) == 0
    assert capfdbinary.readouterr().out.strip().endswith(b"caf\xe9.bin")


def test_a_scratch_folder_in_its_own_source_is_refused(source):
    inside = source / "scratch"
    inside.mkdir()
    with pytest.raises(ScratchError, match="into itself"):
        stage_set(source, inside)
    assert not any(inside.iterdir())
