"""The set of tokens: docstrings of installed packages, and a tokenizer that is trained on them."""
