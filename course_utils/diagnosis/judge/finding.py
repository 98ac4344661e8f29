"""A finding, and what is said of each cause: the sentence, the remedy, the lesson."""

from collections.abc import Callable
from typing import NamedTuple

from course_utils.diagnosis.judge.stages import Stages

Change = Callable[[Stages], Stages]


class Finding(NamedTuple):
    """One thing that is wrong.

    Attributes:
        cause: Its name, a key of `CAUSES`.
        evidence: Numbers that were measured.
        change: What the remedy changes in the stages of a step; None where no time is gained.
        weight: Orders findings of the same class where no gain is predicted.
    """

    cause: str
    evidence: list[str]
    change: Change | None = None
    weight: float = 0.0


class Cause(NamedTuple):
    """What is said of a cause.

    Attributes:
        sentence: What happens.
        remedy: Lines to paste.
        lesson: Section of the course.
        kind: "result" where results are wrong, "survival" where the run may die, "speed" where time is lost.
    """

    sentence: str
    remedy: str
    lesson: str
    kind: str = "speed"


CAUSES = {
    "no_workers": Cause(
        "Batches are loaded between the steps, because the loader has no workers.",
        "DataLoader(..., num_workers={cores}, persistent_workers=True)",
        "00, Batches, and their order",
    ),
    "shared_memory_too_small": Cause(
        "The batches in flight need more than half of /dev/shm: workers may die with a bus error.",
        "docker run --shm-size=8g ...   # or --ipc=host\nDataLoader(..., prefetch_factor=1)",
        "02, How many workers?",
        "survival",
    ),
    "repeated_random_numbers": Cause(
        "Workers or epochs draw the same random numbers: augmentations repeat.",
        "def worker_init_fn(worker):\n    info = torch.utils.data.get_worker_info()\n"
        "    info.dataset.rng = np.random.default_rng(torch.initial_seed())",
        "00, Reproducible epochs",
        "result",
    ),
    "memory_copied_on_write": Cause(
        "Reading Python objects that the fork shared copies their pages: each worker's memory grows.",
        'data = np.frombuffer(b"".join(encoded), np.uint8)   # one array and offsets instead of a list\n'
        "offsets = np.cumsum([0, *map(len, encoded)])",
        "02, What a worker costs",
        "survival",
    ),
    "epoch_not_set": Cause(
        "The order of samples is the same in each epoch.",
        "for epoch in range(epochs):\n    loader.sampler.set_epoch(epoch)   # or: no seed inside of the loop",
        "05, Who reads what",
        "result",
    ),
    "workers_restarted": Cause(
        "Workers are started anew in each epoch, and nothing is computed meanwhile.",
        "DataLoader(..., persistent_workers=True)",
        "02, How many workers?",
    ),
    "too_many_threads": Cause(
        "Each worker runs several busy threads: together more than there are cores.",
        "def worker_init_fn(worker):\n    torch.set_num_threads(1)   # cv2.setNumThreads(0)\n"
        "# before Python starts: export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1",
        "02, How many workers?",
    ),
    "iterable_repeated": Cause(
        "Each worker yields the whole iterable dataset: samples come several times an epoch.",
        "def __iter__(self):\n    info = torch.utils.data.get_worker_info()\n"
        "    yield from itertools.islice(self.samples(), info.id, None, info.num_workers)",
        "05, Shards, nodes and workers",
        "result",
    ),
    "synchronised_steps": Cause(
        "The host waits for the device in each step.",
        "total += loss.detach()          # in the step, on the device\n"
        "if step % 50 == 0: print(total.item())",
        "03, Exercise 1: an honest timer",
    ),
    "file_per_sample": Cause(
        "Workers wait for the storage: a file is opened for each sample.",
        "# pack once, read with an offset index\n"
        "data = os.pread(os.open(pack, os.O_RDONLY), size, offset)   # or stage to $TMPDIR",
        "01, What an epoch asks for",
    ),
    "decoded_at_full_size": Cause(
        "Pictures are decoded at a size of which little is used.",
        'image = Image.open(path); image.draft("RGB", (2 * side, 2 * side))   # or store them small, once',
        "03, Decoding",
    ),
    "python_per_sample": Cause(
        "The data is in memory, and Python takes it apart sample by sample.",
        "sampler = BatchSampler(RandomSampler(dataset), batch_size, drop_last=False)\n"
        "DataLoader(dataset, sampler=sampler, batch_size=None)   # dataset[list] slices once",
        "00, Batches, and their order",
    ),
    "shared_handle": Cause(
        "Workers share one open file and move its position under each other: samples can be wrong.",
        "def handle(self):   # open on first use, in each process\n    if self.pid != os.getpid():\n"
        '        self.file, self.pid = open(self.path, "rb"), os.getpid()\n    return self.file',
        "02, Without a handle",
        "result",
    ),
    "resumed_by_steps": Cause(
        "The start loads batches only to discard them: a resume that skips by steps.",
        "sampler = ResumedSampler(dataset, seed, start=steps * batch_size)   # skip indices, load nothing\n"
        "# or torchdata's StatefulDataLoader: loader.load_state_dict(...)",
        "05, Interrupted",
        "result",
    ),
    "evaluation_padded": Cause(
        "The evaluation counts samples twice or leaves some out.",
        "indices = range(rank, len(dataset), world_size)\n"
        "DataLoader(torch.utils.data.Subset(dataset, indices), batch_size, drop_last=False)",
        "05, Who reads what",
        "result",
    ),
    "fewer_cores": Cause(
        "There are more workers than cores that they may use.",
        "DataLoader(..., num_workers=len(os.sched_getaffinity(0)))   # srun --cpus-per-task=N\n"
        "# if a library narrowed it, in worker_init_fn: os.sched_setaffinity(0, range(os.cpu_count()))",
        "02, How many workers?",
    ),
    "descriptors_run_out": Cause(
        "Open descriptors grow with the batches that are kept: the limit is near.",
        "kept.append(batch.clone())   # a copy lets go of the worker's storage\n"
        'torch.multiprocessing.set_sharing_strategy("file_system")   # or: ulimit -n 65536',
        "02, Without a handle",
        "survival",
    ),
    "cuda_in_workers": Cause(
        "Workers use the accelerator.",
        "batch = batch.to(device, non_blocking=True)   # in the training loop, not in the dataset",
        "03, Pinned memory and streams",
        "survival",
    ),
    "expensive_handover": Cause(
        "Batches are ready, and taking them costs the main process time: they consist of many objects.",
        "def collate(samples):   # few tensors instead of many objects\n"
        "    return torch.from_numpy(np.stack([s.array for s in samples]))",
        "02, What a worker costs",
    ),
    "floats_in_worker": Cause(
        "Workers turn bytes into floats: four times the bytes to make and to hand over.",
        "images = batch.to(device).float().div_(255)   # on the device; the dataset returns uint8",
        "03, Pinned memory and streams",
    ),
    "converted_each_time": Cause(
        "The same conversion is made in each epoch, for each access or batch.",
        "# once, before the training; then the dataset returns arrays[index]\n"
        'np.save("converted.npy", np.stack([convert(sample) for sample in raw]))',
        "04, Choosing",
    ),
    "slow_sample": Cause(
        "Single slow samples hold up batches that are ready behind them.",
        "# shrink or cap the outliers; where order is free (torch 2.7 or later):\n"
        "DataLoader(..., in_order=False, prefetch_factor=4)",
        "02, How many workers?",
    ),
    "pauses": Cause(
        "Validation and checkpoints take a large part of the time.",
        "if epoch % 5 == 0: validate()   # less often, with workers; save a copy in a thread",
        "05, Interrupted",
    ),
    "garbage_collection": Cause(
        "Python's garbage collection walks over many objects, again and again.",
        "gc.collect(); gc.freeze()   # after the data set is built, before the first epoch",
        "02, What a worker costs",
    ),
    "slow_start": Cause(
        "The start of an epoch takes long: a large sampler or a large dataset that is sent to each worker.",
        "order = torch.randperm(len(dataset), generator=generator)   # an array, no list of Python numbers\n"
        "DataLoader(..., persistent_workers=True)   # and a dataset that opens its data in the worker",
        "05, Who reads what",
    ),
    "buffer_reused": Cause(
        "A buffer is written again while an earlier batch in it is still held.",
        "batch = buffer.clone()   # or two buffers, and an event between copy and rewrite",
        "03, Pinned memory and streams",
        "result",
    ),
    "unpinned_copies": Cause(
        "Copies to the device start from pageable memory: the host waits for them.",
        "DataLoader(..., pin_memory=True)\nbatch = batch.to(device, non_blocking=True)",
        "03, Pinned memory and streams",
    ),
    "too_much_read": Cause(
        "Far more is read or looked up than is used.",
        "files = sorted(os.listdir(folder))   # once, in __init__\n"
        "data = os.pread(descriptor, size, offset)   # the sample's bytes alone",
        "01, What an epoch asks for",
    ),
    "uneven_ranks": Cause(
        "Ranks wait for one that loads more slowly or has more batches.",
        "indices = range(rank, len(dataset) // world_size * world_size, world_size)   # equal parts",
        "05, Ranks that run",
    ),
    "labels_slipped": Cause(
        "Inputs and labels do not belong together, or samples disappear.",
        "samples = [(path, labels[path.stem]) for path in sorted(folder.iterdir())]   # one list of pairs",
        "00, A sample and a dataset",
        "result",
    ),
}
