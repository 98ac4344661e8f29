from .blocks import TokenBlocks as TokenBlocks
from .layouts import Layout as Layout
from .layouts import packed as packed
from .layouts import padded as padded
from .layouts import sorted_batches as sorted_batches
from .token_file import TokenFile as TokenFile
from .token_file import token_set as token_set
from .tokenizer import load_tokenizer as load_tokenizer
