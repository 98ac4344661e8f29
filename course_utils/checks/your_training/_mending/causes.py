"""Whether a script still waits for its data in the second epoch, and why."""

from collections import Counter
from collections.abc import Iterable

from course_utils.checks.core import FileActivity, FileEvent, Mistake
from course_utils.checks.your_training._mending.log import Event
from course_utils.checks.your_training._mending.samples import Photographs

SIZE = 128
FULL = 3  # times the pixels of what is trained; a reduced decoding needs about twice as many, a full one 5
BYTES = 3 * SIZE**2  # of a photograph
SOME = 10  # a few of something an epoch are no cause
LABEL_FILES = ("labels_10k.txt", "dataset.json")


def expect_no_shared_handle(events: list[Event]) -> None:
    """Expect that no process reads on where another one has left the position of a file.

    Raises:
        Mistake: One does.
    """
    files = [FileEvent(one.process, *one.value) for one in events if one.kind == "file"]
    if shared := FileActivity(files).shared():
        raise Mistake(
            "shared_handle",
            f"Two processes or threads read {shared[0].name!r} through one handle, and each moves the "
            "position of the other: the wrong bytes, sometimes, without an error. Open the file where it is "
            "read.",
        )


def expect_mended(photographs: Photographs, events: list[Event]) -> None:
    """Expect that none of the causes is left in the second epoch.

    Raises:
        Mistake: One is left.
    """
    later = second_epoch(events, photographs)
    samples = sum(one.value[0] for one in later if one.kind == "forward")
    expect_work_done_once(later)
    _expect_files(later, samples)
    _expect_workers(events, later, samples)
    _expect_labels(events, photographs)
    _expect_bytes(later, samples)
    _expect_no_waits(later)


def second_epoch(events: list[Event], photographs: Photographs) -> list[Event]:
    """Return what happened after the first epoch and its validation."""
    left = len(photographs["labels"])
    for place, event in enumerate(events):
        left -= event.value[0] if event.kind == "forward" else 0
        if left <= 0:
            return events[place + 1 :]
    return []


def expect_work_done_once(later: list[Event], where: str = "") -> None:
    """Expect that no photographs are decoded or resized from their full size.

    Raises:
        Mistake: They are.
    """
    for kind, what in {"decode": "decodes", "resize": "resizes"}.items():
        pixels = [event.value for event in later if event.kind == kind and event.value > FULL * SIZE**2]
        if len(pixels) > SOME:
            raise Mistake(
                "full_size_each_epoch",
                f"In the second epoch{where} the script {what} {len(pixels)} photographs of full size, "
                f"{sum(pixels) / len(pixels) / SIZE**2:.0f} times as many pixels as the network sees, "
                "wherever that happens. Make the small pictures once, and read them in each epoch.",
            )


def _expect_files(later: list[Event], samples: int) -> None:
    opened = Counter(event.value[1] for event in later if event.kind == "file" and event.value[0] == "open")
    parsed = sum(event.kind == "parse" for event in later)
    parsed += sum(count for name, count in opened.items() if name.endswith(LABEL_FILES))
    if parsed:
        raise Mistake(
            "labels_parsed_again",
            f"In the second epoch all labels are parsed, {parsed} times for {samples} photographs. "
            "Parse them once, in a data set that both epochs use.",
        )
    if len(opened) > samples / 2:
        raise Mistake(
            "file_an_image",
            f"In the second epoch the script opens {len(opened)} different files for {samples} "
            "photographs: a "
            "shared file system looks up each of them. Keep them in one file.",
        )
    if max(opened.values(), default=0) > samples / 2:
        name, count = opened.most_common(1)[0]
        raise Mistake(
            "opened_for_each_sample",
            f"In the second epoch {name!r} is opened {count} times for {samples} photographs. Open "
            "it once in "
            "each process that reads it.",
        )


def _expect_workers(events: list[Event], later: list[Event], samples: int) -> None:
    mapped = any(event.kind == "file" and event.value[0] == "map" for event in events)
    work = sum(_is_loading(event) for event in later if event.in_loop)
    alone = sum(
        event.value[0] for event in later if event.kind == "batch" and event.in_loop and not event.value[2]
    )
    if work > SOME or (mapped and alone > SOME):
        raise Mistake(
            "no_workers",
            f"In the second epoch the loop itself loads {work or alone} of {samples} photographs, and the "
            "GPU has nothing to do meanwhile. Let workers or threads load the next batches, those of the "
            "validation too.",
        )


def _is_loading(event: Event) -> bool:
    return event.kind == "decode" or (event.kind == "file" and event.value[0] in ("read", "pread"))


def _expect_labels(events: Iterable[Event], photographs: Photographs) -> None:
    held = max((event.value for event in events if event.kind == "objects"), default=0)
    if held >= photographs["train"]:
        raise Mistake(
            "labels_as_objects",
            f"A data set holds {held} labels as objects of Python, in a list or a dictionary. Each "
            "worker copies "
            "the pages of those that it touches, for a million of them some hundred megabytes: keep "
            "them in one "
            "tensor or array.",
        )


def _expect_bytes(later: list[Event], samples: int) -> None:
    handed = sum(event.value[1] for event in later if event.kind == "batch" and event.value[2])
    copied = sum(event.value[0] for event in later if event.kind == "copy")
    for size, what in ((handed, "hand over"), (copied, "copy to the GPU")):
        if size > 1.5 * BYTES * samples:
            raise Mistake(
                "floats_travel",
                "In the second epoch the script lets "
                f"{'workers' if what == 'hand over' else 'the loop'} {what} "
                f"{size / samples:,.0f} bytes a photograph, which has {BYTES:,}. Let bytes travel "
                "(uint8), and "
                "make floats on the GPU.",
            )


def _expect_no_waits(later: list[Event]) -> None:
    waits, copies, batches, trains = Counter[bool](), Counter[bool](), Counter[bool](), True
    copied = 0  # since the last batch went through the network: copies for the next one
    for event in later:
        copied += event.kind == "copy" and event.value[1]
        if event.kind == "forward":
            trains = bool(event.value[1])
            batches[trains] += 1
            copies[trains] += copied
            copied = 0
        waits[trains] += event.kind == "wait"
    for trains, what in ((True, "train"), (False, "validate")):
        if waits[trains] > 2 + batches[trains] / 8:
            raise Mistake(
                "waits_for_device",
                f"In the second epoch the script waits for the GPU {waits[trains]} times in "
                f"{batches[trains]} steps "
                f"that {what}: .item(), .cpu(), float() or a print needs a result at once. Add up on "
                "the GPU, and "
                "ask once an epoch.",
            )
        if copies[trains] > 2 + batches[trains] / 2:
            raise Mistake(
                "waits_for_copies",
                f"In the second epoch the loop waits for {copies[trains]} copies to the GPU in "
                f"{batches[trains]} steps that {what}. A copy that nobody waits for needs both: pinned "
                "memory (pin_memory=True) and non_blocking=True.",
            )
