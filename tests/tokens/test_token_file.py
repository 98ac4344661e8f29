import pickle

import numpy as np
import pytest

from course_utils.paths import DataNotFoundError
from course_utils.tokens import TokenFile, token_set, write_tokens

SOURCES = {"one": [[5, 6], [], [7]], "none": [], "two": [[8, 8, 8]]}


@pytest.fixture(params=[100, 70_000])
def token_file(request, tmp_path):
    write_tokens(tmp_path, SOURCES, end=2, vocabulary=request.param)
    return TokenFile(tmp_path)


def test_documents_are_those_written_each_with_its_end(token_file):
    found = [token_file.document(number).tolist() for number in range(len(token_file))]
    assert found == [[5, 6, 2], [2], [7, 2], [8, 8, 8, 2]]
    assert token_file.lengths.tolist() == [3, 1, 2, 4]
    assert token_file.sources == {"one": (0, 3), "none": (3, 0), "two": (3, 1)}
    assert token_file.end == 2


def test_dtype_follows_the_vocabulary(token_file):
    assert token_file.tokens.dtype == ("uint16" if token_file.vocabulary == 100 else "uint32")


def test_pickled_file_is_a_path_not_a_copy(token_file):
    data = pickle.dumps(token_file)
    assert len(data) < 1000
    copy = pickle.loads(data)
    assert isinstance(copy.tokens, np.memmap)
    assert copy.tokens.tolist() == token_file.tokens.tolist()


def test_tokens_are_read_when_they_are_asked_for(token_file):
    path = token_file.folder / "tokens.bin"
    data = path.read_bytes()
    path.write_bytes(bytes([9]) + data[1:])
    assert token_file.document(0).tolist() == [9, 6, 2]


@pytest.mark.parametrize("number", [-1, 4])
def test_document_out_of_range_is_an_error(token_file, number):
    with pytest.raises(IndexError, match=f"{number} of 4"):
        token_file.document(number)


def test_shortened_file_is_refused(token_file):
    path = token_file.folder / "tokens.bin"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ValueError, match="data_setup verify"):
        TokenFile(token_file.folder)


@pytest.mark.parametrize("document", [[2], [100]])
def test_end_and_unknown_tokens_are_refused_in_documents(tmp_path, document):
    with pytest.raises(ValueError, match="one: a document holds the token 2, or one above 99"):
        write_tokens(tmp_path, {"one": [document]}, end=2, vocabulary=100)


def test_missing_set_says_which_command_makes_it(tmp_path, monkeypatch):
    for form in ("disk_transformed", "zip_encoded", "zip"):
        (tmp_path / form).mkdir()
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    with pytest.raises(DataNotFoundError, match=f"data_setup tokens --out {tmp_path}/tokens"):
        token_set()
    (tmp_path / "tokens").mkdir()
    write_tokens(tmp_path / "tokens", SOURCES, end=2, vocabulary=100)
    assert token_set() == tmp_path / "tokens"
