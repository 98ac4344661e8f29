"""Check a student's `train.py`: it trains as it was given, and no longer waits for its data.

It runs in another process on drawn photographs, with a scripted device; no clock is looked at.
"""

import ast
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from PIL import Image

from course_utils.checks.core import (
    AttemptOf,
    Evidence,
    Inputs,
    Mistake,
    Truth,
    attempt,
    draw_image,
    draw_names,
    encode_jpeg,
    folder_with,
    pack_bytes,
    value_of,
)
from course_utils.checks.your_training._mending import (
    GRID,
    Plan,
    Run,
    expect_mended,
    expect_no_shared_handle,
    expect_resumed,
    expect_training,
    expect_validation,
    run_all,
)

CLASSES, SIZE = 20, 128
BATCH = 4


class Found(TypedDict):
    """Whether the script has a constant `BATCH`, and its runs."""

    has_batch: bool
    runs: list[Run]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw photographs of unequal sizes, and labels of which most are one that the network soon guesses.

    The last batch of the training is a short one, that of the validation holds one photograph. The validation
    labels are no beginning of all labels, whose order in the JSON is not that of the names.
    """
    train, valid = int(rng.choice([58, 59, 61, 62])), int(rng.choice([17, 21]))
    names = draw_names(rng, train + valid)
    pixels = [draw_image(rng, *map(int, rng.integers(300, 420, 2))) for _ in names]
    images = dict(zip(names, map(encode_jpeg, pixels), strict=True))
    most, others = int(rng.integers(CLASSES)), rng.integers(1, CLASSES, len(names))
    often = rng.random(len(names)) < np.repeat([0, 0.9, 0.65], [valid, train - valid, valid])
    labels = np.where(often, most, (most + others) % CLASSES).tolist()
    truth = {"colours": np.stack([*map(_colours, images.values())]), "labels": labels, "train": train}
    pairs = [[names[k], labels[k]] for k in rng.permutation(len(names))]
    return {"images": images, "labels": labels, "pairs": pairs, "train": train}, truth


def _colours(data: bytes) -> np.ndarray:
    """Return the mean colours of a photograph as the script that was given prepares it."""
    small = np.asarray(Image.open(io.BytesIO(data)).convert("RGB").resize((SIZE, SIZE)), np.float32) / 255
    cells = small.transpose(2, 0, 1).reshape(3, GRID, SIZE // GRID, GRID, SIZE // GRID)
    means: np.ndarray = cells.mean((2, 4)).ravel()
    return means


def probe(inputs: Inputs, training: Callable[[], Any]) -> AttemptOf[Found]:
    """Run the script to its end, and again; then anew, interrupted twice, resumed with other batch sizes."""
    found: AttemptOf[Found] = attempt(lambda: _run(inputs, training()))
    return found


def _run(inputs: Inputs, text: Any) -> Found:  # noqa: ANN401 - whatever a student returns
    text = text.read_text() if isinstance(text, Path) else text
    if not isinstance(text, str):
        raise TypeError(f"my_training() returns {type(text).__name__}, not the text of train.py")
    names = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    has_batch = any(name.id == "BATCH" and isinstance(name.ctx, ast.Load) for name in names)
    images, labels, train = inputs["images"], inputs["labels"], inputs["train"]
    files = {f"data/disk_transformed/{name}": data for name, data in images.items()}
    files["data/disk_transformed/validation_labels_10k.txt"] = "".join(
        f"{label}\n" for label in labels
    ).encode()
    files["data/zip_encoded/part0.zip"] = pack_bytes(images, dict(inputs["pairs"]))
    plans: list[Plan] = [
        {"place": "whole", "batch": BATCH, "until": 0},
        {"place": "whole", "batch": BATCH + 2, "until": 0},  # nothing is left to train
        {"place": "parts", "batch": BATCH, "until": train + 5 * BATCH},
        {"place": "parts", "batch": BATCH + 2, "until": 5 * (BATCH + 2)},
        {"place": "parts", "batch": BATCH, "until": 0},
    ]
    with folder_with(files) as folder:
        runs = run_all(folder, text, labels, train, plans if has_batch else plans[:1])
    kinds = ("forward", "batch", "saved", "decode", "resize")
    for run in runs[1:]:
        run["events"] = [event for event in run["events"] if event.kind in kinds]
    return {"has_batch": has_batch, "runs": runs}


def judge(truth: Truth, evidence: Evidence) -> str:
    """Check what was trained, then each cause of waiting, then what a resumed run trains."""
    value = value_of(evidence)
    whole, *later = value["runs"]
    expect_no_shared_handle(whole["events"])
    _expect_no_crash(whole)
    expect_training(truth, whole)
    expect_validation(truth, whole)
    expect_mended(truth, whole["events"])
    if not value["has_batch"]:
        message = (
            "The script does not use BATCH as its batch size, which the check sets to other values: keep it."
        )
        raise Mistake("no_batch", message)
    for run in later:
        try:
            _expect_no_crash(run)
        except Mistake as mistake:
            message = f"Interrupted, or resumed with another batch size: {mistake.message}"
            raise Mistake("crash_when_resumed", message) from mistake
    expect_resumed(truth, later)
    return (
        "The script trains and validates what it did, loads beside the training, lets bytes travel, "
        "waits for "
        "nothing, and goes on behind its checkpoint."
    )


def _expect_no_crash(run: Run) -> None:
    if run["error"]:
        value_of({"error": run["error"]})
