"""The tokenizer of a set of tokens."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENIZER_FILE = "tokenizer.json"


def load_tokenizer(folder: Path | str) -> "Tokenizer":
    """Load the tokenizer that a set of tokens was made with.

    Args:
        folder: Folder of the set.

    Returns:
        A tokenizer with `encode(text).ids` and `decode(numbers)`.

    Raises:
        ModuleNotFoundError: The package `tokenizers` is not installed.
        FileNotFoundError: The folder holds no tokenizer.
    """
    try:
        from tokenizers import Tokenizer
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "no module tokenizers: `make lab` installs it, as does pip install 'feeding-the-gpu[tokens]'"
        ) from error
    path = Path(folder) / TOKENIZER_FILE
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: `python -m data_setup tokens` makes it")
    return Tokenizer.from_file(str(path))
