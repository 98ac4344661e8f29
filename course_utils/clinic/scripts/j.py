"""Trains on records of a binary file."""

import os, tempfile
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset


class Records(Dataset):
    def __init__(self, path, n):
        self.file, self.n = open(path, "rb", buffering=0), n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return torch.from_numpy(
            np.frombuffer(
                os.pread(self.file.fileno(), 1024, i * 1024), dtype=np.uint8
            ).copy()
        ), i % 2


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "records.bin")
        np.random.default_rng(0).integers(
            0, 255, (1600, 1024), dtype=np.uint8
        ).tofile(path)
        loader = DataLoader(
            Records(path, 1600),
            batch_size=32,
            shuffle=True,
            num_workers=2,
            multiprocessing_context="fork",
            persistent_workers=True,
        )
        model = torch.nn.Sequential(
            torch.nn.Linear(1024, 1024),
            torch.nn.ReLU(),
            torch.nn.Linear(1024, 1024),
            torch.nn.ReLU(),
            torch.nn.Linear(1024, 2),
        )
        opt = torch.optim.SGD(model.parameters(), lr=0.01)
        for epoch in range(2):
            for x, y in loader:
                loss = torch.nn.functional.cross_entropy(model(x.float() / 255), y)
                opt.zero_grad()
                loss.backward()
                opt.step()
            print(epoch, loss.item())
