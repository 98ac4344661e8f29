"""Atomic checkpoints: model, optimiser, the loader's position and the random generators of all ranks."""

import io
import zipfile
from pathlib import Path
from typing import Any, TypedDict

import torch

from course_utils.data import read_regular_file
from course_utils.loading import LoaderState
from course_utils.system import remove_temporaries, write_atomically


class CheckpointError(ValueError):
    """A checkpoint is damaged."""


class Checkpoint(TypedDict):
    """What training resumes from.

    Attributes:
        model: Parameters and buffers.
        optimizer: State of the optimiser.
        loader: Position in the epochs, the same for all ranks.
        generators: State of the random generator of each rank.
    """

    model: dict[str, Any]
    optimizer: dict[str, Any]
    loader: LoaderState
    generators: list[torch.Tensor]


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Replace a checkpoint: whoever is killed meanwhile leaves the old one or the new one.

    Args:
        path: Where it is to be. Only one process may write there.
        checkpoint: What to save.
    """
    data = io.BytesIO()
    torch.save(checkpoint, data)
    remove_temporaries(path)
    write_atomically(path, [data.getvalue()])


def load_checkpoint(path: Path) -> Checkpoint | None:
    """Return a checkpoint with its tensors on the CPU, or None if there is none yet.

    A checkpoint is a zip with a checksum for each tensor, which `torch.load` does not compare.

    Raises:
        CheckpointError: It is damaged, or no checkpoint of this training.
    """
    if not path.exists():
        return None
    data = io.BytesIO(read_regular_file(path, "checkpoint"))
    try:
        with zipfile.ZipFile(data) as records:
            if damaged := records.testzip():
                raise CheckpointError(f"{damaged} does not match its checksum")
        data.seek(0)
        found: Checkpoint = torch.load(data, map_location="cpu", weights_only=True)
    except Exception as error:  # zipfile and torch raise nearly anything for a damaged file
        raise CheckpointError(
            f"{path} is damaged ({error}). Put back a copy of it, or remove it to train from the beginning"
        ) from error
    if missing := Checkpoint.__required_keys__ - found.keys():
        raise CheckpointError(
            f"{path} lacks {', '.join(sorted(missing))}: it is no checkpoint of this training. Choose "
            "another folder"
        )
    return found
