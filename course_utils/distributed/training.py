"""Train a network on any number of ranks, from the last checkpoint on, until it is done or asked to stop."""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

from course_utils.cropping import RandomResizedCrop
from course_utils.distributed.checkpoint import Checkpoint, CheckpointError
from course_utils.distributed.ranks import World
from course_utils.distributed.record import Record, Step
from course_utils.distributed.run_folder import RunFolder
from course_utils.loading import FastLoader
from course_utils.training import SimpleCNN


@dataclass(frozen=True)
class TrainingJob:
    """What to train.

    Attributes:
        pack: A pack of images.
        folder: For the checkpoint and the record; a job in the same folder resumes.
        epochs: Number of epochs.
        batch_size: Images per rank and step.
        size: Height and width of a random crop; None for whole images, which then have the same size.
        learning_rate: Of stochastic gradient descent with momentum 0.9; None for that of the checkpoint, and
            for 0.01 where there is none.
        seed: Of the parameters and the order of the images.
        save_every: Steps between two checkpoints; there is one at the end of each epoch, too.
        check_every: Steps between two checks whether to stop; each check waits for all ranks.
        record: Write the labels and the loss of each step to `record.jsonl`.
        pause: Seconds to sleep after each step, to try signals on a small data set.
    """

    pack: Path
    folder: Path
    epochs: int = 1
    batch_size: int = 32
    size: int | None = None
    learning_rate: float | None = None
    seed: int = 0
    save_every: int = 1000
    check_every: int = 1
    record: bool = False
    pause: float = 0

    def __post_init__(self) -> None:
        if self.learning_rate is not None and not 0 < self.learning_rate < math.inf:
            raise ValueError(f"learning_rate={self.learning_rate}: it must be a positive number")


class Training:
    """A job on one rank; all ranks do the same steps.

    A rank without images in the last step takes part with an empty batch. The loss is the mean over the
    images of all ranks, so a step is the same as one of a single process with all of them: also the last one,
    where an average of the ranks' means would be another number.

    Args:
        job: The same on all ranks, but for the paths. Only rank 0 reads and writes the folder.
        world: This rank.

    Raises:
        FolderInUseError: Another job trains in the folder.
        CheckpointError: The checkpoint is damaged, or of another network.
        OtherRankError: Another rank failed, or has another job or other samples.
        ValueError: The checkpoint belongs to other samples.
    """

    def __init__(self, job: TrainingJob, world: World) -> None:
        self.job, self.world = job, world
        self.folder = world.together(lambda: RunFolder(job.folder) if world.rank == 0 else None)
        self.crop = RandomResizedCrop(job.size) if job.size else None
        self.loader = world.together(self._open_loader)
        settings = {key: value for key, value in asdict(job).items() if key not in ("pack", "folder")}
        world.require_same({**settings, **self.loader.state_dict()}, "settings or samples")
        torch.manual_seed(job.seed)
        self.model = SimpleCNN(int(self.loader.images.labels.max()) + 1).to(world.device)
        self.parallel: nn.Module = DistributedDataParallel(self.model) if world.size > 1 else self.model
        self.optimizer = torch.optim.SGD(self.model.parameters(), job.learning_rate or 0.01, momentum=0.9)
        self.record = Record(job.folder / "record.jsonl") if job.record else None
        self._resume()
        if self.folder:
            self.folder.mark(self.is_complete)

    def _open_loader(self) -> FastLoader:
        job, world = self.job, self.world
        return FastLoader(
            job.pack, job.batch_size, crop=self.crop, device=world.device,
            shuffle=True, seed=job.seed, rank=world.rank, world_size=world.size,
        )  # fmt: skip

    @property
    def is_complete(self) -> bool:
        """Whether all epochs are done."""
        return self.loader.state_dict()["epoch"] >= self.job.epochs

    def run(self, should_stop: Callable[[], bool] = lambda: False) -> bool:
        """Train until all epochs are done, or a rank is asked to stop; both end with a checkpoint.

        Args:
            should_stop: Asked after each step; if it is true on one rank, all of them stop.

        Returns:
            Whether all epochs are done.

        Raises:
            FloatingPointError: The parameters are no longer finite; the last checkpoint stays.
        """
        while not self.is_complete:
            stopped = self._epoch(should_stop)
            self._save()
            if stopped:
                break
        return self.is_complete

    def _epoch(self, should_stop: Callable[[], bool]) -> bool:
        """Train the rest of an epoch; return whether the ranks were asked to stop before its end."""
        order, state = self.loader.order, self.loader.state_dict()
        height, width = self.crop.shape if self.crop else self.loader.images.shape[:2]
        nothing = torch.empty(0, 3, height, width), torch.empty(0, dtype=torch.int64)
        batches, consumed, steps = iter(self.loader), state["samples"], 0
        while consumed < order.images:
            before, consumed = consumed, order.consumed_after(consumed, 1)
            images, labels = next(batches, nothing)
            self._step(Step(state["epoch"], before, [], 0), images, labels, consumed - before)
            steps += 1
            time.sleep(self.job.pause)
            if consumed == order.images:
                break
            if steps % self.job.check_every == 0 and self.world.any(should_stop()):
                return True
            if steps % self.job.save_every == 0:
                self._save()
        next(batches, None)  # the position moves to the next epoch
        return False

    def _step(self, step: Step, images: torch.Tensor, labels: torch.Tensor, total: int) -> None:
        """Update the parameters once; `total` is the number of images of all ranks."""
        images, labels = images.to(self.world.device), labels.to(self.world.device)
        self.optimizer.zero_grad()
        share = cross_entropy(self.parallel(images), labels, reduction="sum") / total
        # DDP divides the sum of the ranks' gradients by their number.
        torch.autograd.backward(share * self.world.size)
        self.optimizer.step()
        if self.record:
            found = self.world.gather((labels.tolist(), share.item()))
            if found:
                self.record.append(
                    replace(step, labels=[mine for mine, _ in found], loss=sum(loss for _, loss in found))
                )

    def _save(self) -> None:
        if not all(bool(parameter.isfinite().all()) for parameter in self.model.parameters()):
            raise FloatingPointError(
                f"the training diverged: its parameters are no longer finite. {self.job.folder} keeps its "
                "last checkpoint; go on from it with a smaller learning rate"
            )
        generators = self.world.gather(torch.get_rng_state())
        if self.folder:
            checkpoint = Checkpoint(
                model=self.model.state_dict(),
                optimizer=self.optimizer.state_dict(),
                loader=self.loader.state_dict(),
                generators=generators,
            )
            self.folder.save(checkpoint, self.is_complete)

    def _resume(self) -> None:
        """Let all ranks start from what rank 0 reads: another rank may see an older checkpoint, or none."""
        found = self.world.from_first(
            self.world.together(lambda: self.folder.load() if self.folder else None)
        )
        start = found["loader"] if found else self.loader.state_dict()
        if found:
            self.loader.load_state_dict(start)  # refuses other samples, before the record changes
        if self.record and self.folder:
            self.record.resume_at(start)
        torch.manual_seed(hash((self.job.seed, start["epoch"], start["samples"], self.world.rank)))
        if found is None:
            return
        try:
            self.model.load_state_dict(found["model"])
            self.optimizer.load_state_dict(found["optimizer"])
        except (KeyError, RuntimeError, ValueError) as error:
            raise CheckpointError(
                f"the checkpoint in {self.job.folder} is of another network ({error}): choose another folder"
            ) from error
        if self.job.learning_rate is not None:
            for group in self.optimizer.param_groups:
                group["lr"] = self.job.learning_rate
        if len(found["generators"]) == self.world.size:  # on another number of ranks, there are others
            torch.set_rng_state(found["generators"][self.world.rank])


def train_alone(pack: Path, batch_size: int, folder: Path, **settings: Any) -> list[Step]:  # noqa: ANN401
    """Train an epoch in this process; return its steps.

    Args:
        pack: A pack of images.
        batch_size: Images per step; for the same steps as `n` ranks, `n` times theirs.
        folder: For checkpoint and record.
        **settings: As of `TrainingJob`.
    """
    training = Training(TrainingJob(pack, folder, batch_size=batch_size, record=True, **settings), World())
    training.run()
    return Record(folder / "record.jsonl").steps()
