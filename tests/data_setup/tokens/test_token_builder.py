"""A set of tokens is complete, verified, reproducible, and never written over something else."""

import json
import shutil
import sys
from pathlib import Path

import pytest

import data_setup
from course_utils.tokens import TokenFile
from data_setup.cli import main
from data_setup.tokens import token_builder
from data_setup.tokens.text_sources import SOURCES
from tests.data_setup.file_content import files_of

EVERY = ("--every", "40")


def test_each_source_has_documents_and_credits(token_folder):
    tokens, manifest = TokenFile(token_folder), json.loads((token_folder / "manifest.json").read_text())
    credits = Path(data_setup.__file__).with_name("CREDITS.md").read_text()
    assert list(tokens.sources) == [source.name for source in SOURCES]
    assert manifest["documents"] == {name: number for name, (_, number) in tokens.sources.items()}
    assert min(manifest["documents"].values()) > 0
    for source in SOURCES:
        assert manifest["licences"][source.name] == f"{source.licence}: {source.link}"
        assert f"| {source.licence} | {source.link} |" in credits


def test_no_document_is_there_twice(token_folder):
    tokens = TokenFile(token_folder)
    documents = [tokens.document(number).tobytes() for number in range(len(tokens))]
    assert len({*documents}) == len(documents)


def test_set_is_verified_and_described(token_folder, capsys):
    assert main(["verify", "--out", str(token_folder)]) == 0
    assert main(["info", "--out", str(token_folder)]) == 0
    text = capsys.readouterr().out
    assert "documents: docstrings (vocabulary 4096, every 40)" in text
    assert "scikit-learn " in text


def test_same_bytes_for_any_number_of_workers(token_folder, tmp_path):
    assert main(["tokens", *EVERY, "--workers", "2", "--out", str(tmp_path / "tokens")]) == 0
    assert files_of(tmp_path / "tokens") == files_of(token_folder)
    assert [path.name for path in tmp_path.iterdir()] == ["tokens"]


@pytest.fixture
def copy(token_folder, tmp_path):
    return shutil.copytree(token_folder, tmp_path / "data" / "tokens")


def test_finished_set_is_kept_and_another_one_refused(copy, capsys):
    before = files_of(copy)
    assert main(["tokens", *EVERY, "--out", str(copy)]) == 0
    assert main(["tokens", "--if-missing", "--out", str(copy)]) == 0
    assert "already holds tokens" in capsys.readouterr().out
    assert main(["tokens", "--every", "41", "--out", str(copy)]) == 1
    assert "Nothing was changed" in capsys.readouterr().err
    assert files_of(copy) == before


def test_folder_without_a_manifest_is_left_alone(copy, capsys):
    (copy / "manifest.json").unlink()
    before = files_of(copy)
    assert main(["tokens", *EVERY, "--out", str(copy)]) == 1
    assert "without a manifest.json. Nothing was changed" in capsys.readouterr().err
    assert files_of(copy) == before


def test_damaged_set_is_found(copy, capsys):
    data = (copy / "tokens.bin").read_bytes()
    (copy / "tokens.bin").write_bytes(data[:99] + bytes([data[99] ^ 1]) + data[100:])
    assert main(["verify", "--out", str(copy)]) == 1
    assert "tokens.bin: its content has changed" in capsys.readouterr().out
    (copy / "tokens.bin").unlink()
    assert main(["tokens", "--if-missing", "--out", str(copy)]) == 1
    assert "is damaged" in capsys.readouterr().err


def test_failed_or_killed_command_leaves_nothing_that_looks_complete(tmp_path, monkeypatch):
    out = tmp_path / "data" / "tokens"
    (tmp_path / "data" / ".tokens.unfinished").mkdir(parents=True)
    (tmp_path / "data" / ".tokens.unfinished" / "tokens.bin").touch()
    with monkeypatch.context() as patch:
        patch.setattr(token_builder, "_encode", lambda *arguments: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            main(["tokens", "--every", "400", "--workers", "1", "--out", str(out)])
    assert not out.exists()
    assert main(["tokens", "--every", "400", "--workers", "1", "--out", str(out)]) == 0
    assert sorted(path.name for path in out.parent.iterdir()) == ["tokens"]


def test_missing_package_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    assert main(["tokens", "--every", "400", "--workers", "1", "--out", str(tmp_path / "tokens")]) == 1
    assert "`make lab` installs it" in capsys.readouterr().err


def test_folder_that_others_made_and_lacks_tokens_is_no_error(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert main(["tokens", "--if-missing", "--out", str(tmp_path / "tokens")]) == 0
    assert "lesson 07 needs it; ask who made the data" in capsys.readouterr().out


def test_photographs_are_verified_and_described_with_the_tokens_beside_them(
    photo_set, token_folder, tmp_path, capsys
):
    data = shutil.copytree(photo_set, tmp_path / "data")
    shutil.copytree(token_folder, data / "tokens")
    assert main(["verify", "--out", str(data)]) == 0
    assert main(["info", "--out", str(data)]) == 0
    assert "tokens/" in capsys.readouterr().out
    (data / "tokens" / "other").touch()
    assert main(["verify", "--out", str(data)]) == 1
    assert f"{data / 'tokens'}: 1 problem, listed above" in capsys.readouterr().err
