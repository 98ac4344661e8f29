"""Trains on lines of a text file, streamed by two workers."""

import os, random, tempfile
import torch
from torch.utils.data import DataLoader, IterableDataset


class Lines(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        with open(self.path) as f:
            for line in f:
                label, text = line.rstrip("\n").split("\t")
                yield (
                    torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8),
                    int(label),
                )


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random.seed(0)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "train.tsv")
        with open(path, "w") as f:
            for k in range(1200):
                f.write(f"{k % 2}\t{''.join(random.choices('abcdefgh ', k=64))}\n")
        loader = DataLoader(
            Lines(path),
            batch_size=32,
            num_workers=2,
            multiprocessing_context="fork",
            persistent_workers=True,
        )
        model = torch.nn.Sequential(
            torch.nn.Embedding(256, 64),
            torch.nn.Flatten(),
            torch.nn.Linear(4096, 512),
            torch.nn.ReLU(),
            torch.nn.Linear(512, 2),
        )
        opt = torch.optim.SGD(model.parameters(), lr=0.01)
        for epoch in range(2):
            for x, y in loader:
                loss = torch.nn.functional.cross_entropy(model(x.int()), y)
                opt.zero_grad()
                loss.backward()
                opt.step()
            print(epoch, loss.item())
