"""Create the set of tokens: read docstrings, train a tokenizer, write the tokens and a manifest."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from course_utils.system import sync_filesystem, sync_folder, write_atomically
from course_utils.tokens import TOKENIZER_FILE, write_tokens
from data_setup.create.staging import ELSEWHERE, is_finished
from data_setup.format.errors import SetupError
from data_setup.format.layout import MANIFEST, STAGING
from data_setup.format.locks import locked
from data_setup.format.manifest import FileEntry, Header, Identity, file_sha256, manifest_text
from data_setup.tokens.docstrings import docstrings_of
from data_setup.tokens.text_sources import SOURCES

if TYPE_CHECKING:
    from tokenizers import Tokenizer

VOCABULARY = 4096
END, FIRST = "<|end|>", 0  # the token that ends a document is the first of the vocabulary
BATCH = 1000  # documents encoded at once

Texts = dict[str, list[str]]  # by source


def token_identity(every: int) -> Identity:
    """Return what determines every byte of a set, besides the versions of the packages."""
    return {"source": "docstrings", "vocabulary": VOCABULARY, "every": every}


def create_tokens(out: Path, every: int, workers: int) -> None:
    """Create the set, in a hidden folder beside its final name, which it gets when it is complete.

    Args:
        out: Folder of the set.
        every: Read every this many files only; 1 reads all.
        workers: Number of processes.

    Raises:
        SetupError: Something else is there, or is being made there, or a package is missing.
        OSError: For example, the disk is full.
    """
    identity, staging = token_identity(every), out.with_name(f".{out.name}{STAGING}")
    out.parent.mkdir(parents=True, exist_ok=True)
    with locked(staging.with_suffix(".lock"), f"the set in {out}"):
        if is_finished(out, identity):  # another command may just have made it
            return
        if out.exists():
            raise SetupError(f"{out} exists, without a {MANIFEST}. Nothing was changed; {ELSEWHERE}.")
        shutil.rmtree(staging, ignore_errors=True)  # of a command that was killed
        staging.mkdir()
        try:
            header = _write(staging, _read_texts(every, workers), identity)
            write_atomically(staging / MANIFEST, manifest_text(header, _entries(staging)))
            sync_filesystem(staging)
            staging.rename(out)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
        sync_folder(out.parent)


def _read_texts(every: int, workers: int) -> Texts:
    """Read the documents of each source; a text that several sources or files hold is in the first only."""
    files = {source.name: source.files()[::every] for source in SOURCES}
    read = iter(docstrings_of([file for some in files.values() for file in some], workers))
    known, found = set[str](), Texts()
    for name, some in files.items():
        texts = dict.fromkeys(text for _ in some for text in next(read))
        found[name] = [text for text in texts if text not in known]
        known.update(texts)
        print(f"{name}: {len(found[name]):,} docstrings in {len(some):,} files", flush=True)
    return found


def _write(folder: Path, texts: Texts, identity: Identity) -> Header:
    """Train the tokenizer, write it and the tokens, and return what the manifest says."""
    tokenizer = _train([text for some in texts.values() for text in some])
    tokenizer.save(str(folder / TOKENIZER_FILE))
    encoded = {name: _encode(tokenizer, some) for name, some in texts.items()}
    write_tokens(folder, encoded, FIRST, VOCABULARY)
    packages = ("feeding-the-gpu", "tokenizers", *(source.name for source in SOURCES if source.package))
    return {
        "identity": identity,
        "images": 0,
        "classes": [],
        "forms": {},
        "parts": {},
        "documents": {name: len(some) for name, some in texts.items()},
        "licences": {source.name: f"{source.licence}: {source.link}" for source in SOURCES},
        "oddities": [],
        "versions": {"python": sys.version.split()[0], **{name: version(name) for name in packages}},
    }


def _train(texts: Sequence[str]) -> "Tokenizer":
    """Train a byte-pair tokenizer on texts."""
    try:
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    except ModuleNotFoundError as error:
        raise SetupError("the package `tokenizers` is missing: `make lab` installs it") from error
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.encode_special_tokens = True  # a text that holds the end's name is a text
    return tokenizer


def _encode(tokenizer: "Tokenizer", texts: Sequence[str]) -> Iterator[list[int]]:
    for first in range(0, len(texts), BATCH):
        yield from (one.ids for one in tokenizer.encode_batch_fast(texts[first : first + BATCH]))


def _entries(folder: Path) -> list[FileEntry]:
    files = sorted(folder.iterdir())
    return [FileEntry(path.name, path.stat().st_size, file_sha256(path)) for path in files]
