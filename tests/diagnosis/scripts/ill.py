"""One training in many conditions: `ill.py NAME` is ill in the way that NAME says, or healthy."""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset, DistributedSampler, IterableDataset, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)


class Map(Dataset):
    def __init__(self, sample, length=256, **held):
        self.sample, self.length = sample, length
        vars(self).update(held)

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        if i >= self.length:
            raise IndexError(i)
        return self.sample(self, i)


class Stream(IterableDataset):
    def __iter__(self):
        for i in range(128):
            yield torch.full((32,), float(i)), i % 2


def busy(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def work(data, i, seconds=0.002):
    busy(seconds)
    return torch.full((32,), float(i)), i % 2


def augmented(data, i):
    busy(0.002)
    return torch.full((32,), float(i)) + torch.rand(32), i % 2


def drawn(data, i):
    return torch.from_numpy(data.rng.random(32, dtype=np.float32)), i % 2


def read_file(data, i):
    time.sleep(0.004)  # a store that answers late
    return torch.frombuffer(bytearray((data.folder / f"{i}").read_bytes()), dtype=torch.uint8)[
        :32
    ].float(), i % 2


def listed(data, i):
    names = sorted(os.listdir(data.folder))  # noqa: PTH208
    return torch.frombuffer(bytearray((data.folder / names[i]).read_bytes()), dtype=torch.uint8)[
        :32
    ].float(), i % 2


def decoded(data, i):
    image = Image.open(data.folder / f"{i % 16}.jpg").convert("RGB").resize((32, 32))
    return torch.from_numpy(np.array(image)).permute(2, 0, 1), i % 2


def floats(data, i):
    image = data.images[i].astype(np.float32) / 255
    return torch.from_numpy(image.transpose(2, 0, 1).copy()), i % 2


def from_handle(data, i):
    data.file.seek(i * 128)
    return torch.frombuffer(bytearray(data.file.read(128)), dtype=torch.float32).clone(), i % 2


def slow_one(data, i):
    busy(0.4 if i % 64 == 7 else 0.0004)
    return torch.full((32,), float(i)), i % 2


def parsed(data, i):
    return torch.tensor(json.loads(data.texts[i])[:32]), i % 2


def counted(data, i):
    return torch.tensor([float(len(data.names[j])) for j in range(i * 1000, i * 1000 + 1000)][:32]), i % 2


def train(loader, epochs=3, compute=0.002, each_epoch=None):
    model = nn.LazyLinear(2)
    optimizer = None
    for epoch in range(epochs):
        for x, y in loader:
            x = x.flatten(1).float()[:, :32]
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer = optimizer or torch.optim.SGD(model.parameters(), 1e-3)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            busy(compute)
        if each_epoch:
            each_epoch(epoch)
        print(epoch, round(loss.item(), 5))


def pooled(samples):
    return torch.stack([x for x, _ in samples]), torch.tensor([y for _, y in samples])


def dropping(samples):
    kept = [sample for sample in samples if sample[0][0] % 5]
    return torch.utils.data.default_collate(kept)


def loader(data, **options):
    return DataLoader(data, 16, **{"num_workers": 2, "persistent_workers": True, "shuffle": True, **options})


def run(name, folder):
    images = np.random.default_rng(0).integers(0, 255, (64, 160, 160, 3), dtype=np.uint8)
    if name == "no_workers":
        train(loader(Map(augmented), num_workers=0, persistent_workers=False))
    elif name == "repeated_random_numbers":
        train(loader(Map(drawn, rng=np.random.default_rng(0))))
    elif name == "memory_copied_on_write":
        names = [f"a name of some length {i}" * 2 for i in range(700_000)]
        train(loader(Map(counted, 700, names=names)), 2)
    elif name == "epoch_not_set":
        data = Map(work)
        train(loader(data, sampler=DistributedSampler(data, 1, 0), shuffle=None), compute=0.03)
    elif name == "workers_restarted":
        train(
            loader(Map(work, 48), persistent_workers=False, worker_init_fn=lambda worker: time.sleep(0.5)),
            compute=0.03,
        )
    elif name == "iterable_repeated":
        train(DataLoader(Stream(), 16, num_workers=2), compute=0.01)
    elif name == "file_per_sample":
        for i in range(256):
            (folder / f"{i}").write_bytes(bytes(64))
        train(loader(Map(read_file, folder=folder)))
    elif name == "too_much_read":
        for i in range(1500):
            (folder / f"{i:04}").write_bytes(bytes([i % 256]) * 64)
        train(loader(Map(listed, 600, folder=folder)), 2)
    elif name == "decoded_at_full_size":
        for i in range(16):
            Image.fromarray(np.kron(images[i, :80, :80], np.ones((8, 8, 1), np.uint8))).save(
                folder / f"{i}.jpg"
            )
        train(loader(Map(decoded, folder=folder), shuffle=False))
    elif name == "python_per_sample":
        train(
            DataLoader(TensorDataset(torch.rand(20_000, 32), torch.zeros(20_000).long()), 256, shuffle=True),
            2,
            0.0005,
        )
    elif name == "shared_handle":
        (folder / "pack").write_bytes(np.arange(256 * 32, dtype=np.float32).tobytes())
        train(
            loader(Map(from_handle, file=(folder / "pack").open("rb")), multiprocessing_context="fork"),
            compute=0.02,
        )
    elif name == "resumed_by_steps":
        data, model = loader(Map(work)), nn.Linear(32, 2)
        optimizer = torch.optim.SGD(model.parameters(), 1e-3)
        for epoch in range(2):
            for step, (x, y) in enumerate(data):
                if epoch == 0 and step < 10:
                    continue
                nn.functional.cross_entropy(model(x), y).backward()
                optimizer.step()
                busy(0.03)
    elif name == "evaluation_padded":
        test = Map(work, 107)
        held = DataLoader(test, 8, sampler=DistributedSampler(test, 4, 0, shuffle=False))

        def evaluate(epoch):
            with torch.no_grad():
                print(sum(x.mean().item() for x, _ in held))

        train(loader(Map(work)), compute=0.03, each_epoch=evaluate)
    elif name == "floats_in_worker":
        train(loader(Map(floats, 64, images=images)), 4)
    elif name == "converted_each_time":
        texts = [json.dumps([i / 7] * 4000) for i in range(256)]
        train(loader(Map(parsed, texts=texts)))
    elif name == "slow_sample":
        train(loader(Map(slow_one, 512)), 2, 0.01)
    elif name == "pauses":
        held = DataLoader(Map(work), 16)

        def evaluate(epoch):
            with torch.no_grad():
                print(sum(x.mean().item() for x, _ in held))

        train(loader(Map(work)), compute=0.03, each_epoch=evaluate)
    elif name == "labels_slipped":
        train(loader(Map(work), collate_fn=dropping), compute=0.03)
    elif name == "fewer_cores":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        train(loader(Map(work), num_workers=3))
    elif name == "healthy_computing":
        train(loader(Map(work, 128)), 2, 0.05)
    elif name == "healthy_in_memory":
        train(
            DataLoader(TensorDataset(torch.rand(256, 32), torch.zeros(256).long()), 16, shuffle=True),
            compute=0.02,
        )
    elif name == "healthy_map":
        np.save(folder / "a.npy", np.zeros((256, 32), np.float32))
        held = np.load(folder / "a.npy", mmap_mode="r")
        train(
            loader(Map(lambda data, i: (torch.from_numpy(data.a[i].copy()), i % 2), a=held), num_workers=1),
            compute=0.02,
        )
    else:
        raise SystemExit(f"no condition {name}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        run(sys.argv[1], Path(made))
