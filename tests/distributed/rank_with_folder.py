"""A program for the tests: ranks that train in different folders, or on different packs.

    torchrun --nproc-per-node 2 -m tests.distributed.rank_with_folder FOLDER PACK...

Rank r trains in FOLDER/r, on the r-th pack or the last one.
"""

import os
import sys
from pathlib import Path

from course_utils.distributed import train

if __name__ == "__main__":
    rank = int(os.environ["RANK"])
    folder, *packs = sys.argv[1:]
    pack = packs[min(rank, len(packs) - 1)]
    options = ["--folder", str(Path(folder) / str(rank)), "--batch-size", "4", "--epochs", "1", "--record"]
    sys.exit(train.main([pack, *options]))
