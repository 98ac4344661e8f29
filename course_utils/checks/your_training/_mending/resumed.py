"""Whether a script that was interrupted goes on behind the last sample of its checkpoint."""

from collections import Counter

from course_utils.checks.core import Mistake
from course_utils.checks.your_training._mending.causes import expect_work_done_once
from course_utils.checks.your_training._mending.runs import EPOCHS, Run
from course_utils.checks.your_training._mending.samples import Photographs, numbers_of

MORE = 12  # samples may be loaded and not trained: a checkpoint holds tens of an epoch


def expect_resumed(photographs: Photographs, runs: list[Run]) -> None:
    """Expect what runs train that go on behind checkpoints.

    The first goes on behind the last epoch. The others, each interrupted but the last, train each photograph
    once an epoch together; what was trained after the last checkpoint is trained again.

    Raises:
        Mistake: Samples are lost or come twice, or are loaded again.
    """
    kept: list[int] = []
    for number, run in enumerate(runs[1:]):
        numbers = numbers_of(photographs, [one for one in run["forwards"] if one["trains"]])
        saved = [event.value for event in run["events"] if event.kind == "saved"]
        is_last = run is runs[-1]
        if not number and not saved:
            raise Mistake(
                "no_checkpoint",
                "The script was interrupted in its second epoch, and torch.save was not called before.",
            )
        if is_last:
            _expect_nothing_again(run, len(numbers), len(kept))
        kept += numbers if is_last else numbers[: saved[-1] if saved else 0]
    size = photographs["train"]
    epochs = [Counter(kept[epoch * size : (epoch + 1) * size]) for epoch in range(EPOCHS)]
    wanted = Counter(range(size))
    lost = sum(sum((wanted - epoch).values()) for epoch in epochs)
    if lost or len(kept) != EPOCHS * size:
        raise Mistake(
            "samples_twice_or_lost",
            f"Interrupted twice and resumed with another batch size, the script trains {len(kept)} "
            "samples in "
            f"{EPOCHS} epochs of {size}, and {lost} that belong to an epoch are not in it. Steps are "
            "no position: "
            "let the checkpoint hold the epoch and how many of its samples are trained, and begin "
            "behind them "
            "in the same order.",
        )
    if again := sum(one["trains"] for one in runs[0]["forwards"]):
        raise Mistake(
            "last_epoch_again",
            f"Started again after its last epoch, the script trains {again} more batches: the checkpoint at "
            "the end of an epoch says that the next one begins.",
        )


def _expect_nothing_again(run: Run, trained: int, before: int) -> None:
    """Expect that a run which goes on behind some samples to the end loads no more than it trains."""
    first = next((k for k, event in enumerate(run["events"]) if event.kind == "forward"), 0)
    expect_work_done_once(run["events"][first:], ", resumed,")
    forwards = [event.value for event in run["events"] if event.kind == "forward"]
    validated = sum(count for count, trains in forwards if not trains)
    loaded = sum(event.value[0] for event in run["events"] if event.kind == "batch")
    if loaded - validated > trained + MORE:
        raise Mistake(
            "loads_what_was_trained",
            f"Resumed behind {before} samples, the script loads {loaded - validated} and trains "
            f"{trained}: the "
            "others are loaded and thrown away, which takes as long as training them. Let the sampler begin "
            "behind what was trained.",
        )
