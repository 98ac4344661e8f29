"""Trains a network on rows of an array."""

import random
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, n=1600):
        self.data = np.random.default_rng(0).integers(
            0, 255, (n, 128), dtype=np.uint8
        )

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return torch.from_numpy(self.data[i]), int(self.data[i, 0] > 127)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(
        Rows(),
        batch_size=32,
        shuffle=True,
        num_workers=1,
        multiprocessing_context="fork",
        persistent_workers=True,
    )
    model = torch.nn.Sequential(
        torch.nn.Linear(128, 1536),
        torch.nn.ReLU(),
        torch.nn.Linear(1536, 1536),
        torch.nn.ReLU(),
        torch.nn.Linear(1536, 2),
    )
    opt = torch.optim.SGD(model.parameters(), lr=0.001)
    for epoch in range(2):
        for step, (x, y) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(model(x.float()), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())
