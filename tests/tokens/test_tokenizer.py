import sys

import pytest

from course_utils.tokens import TokenFile, load_tokenizer


def test_documents_decode_to_text_and_encode_to_the_same_tokens(token_folder):
    tokens, tokenizer = TokenFile(token_folder), load_tokenizer(token_folder)
    for number in (0, 17, len(tokens) - 1):
        document = tokens.document(number)[:-1].tolist()
        text = tokenizer.decode(document)
        assert len(text) >= 20
        assert tokenizer.encode(text).ids == document


def test_missing_package_is_named_with_what_installs_it(token_folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'feeding-the-gpu\[tokens\]'"):
        load_tokenizer(token_folder)


def test_missing_tokenizer_says_which_command_makes_it(tmp_path):
    with pytest.raises(FileNotFoundError, match="data_setup tokens"):
        load_tokenizer(tmp_path)
