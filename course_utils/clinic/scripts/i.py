"""Trains on names of a million scans."""

import random
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset


class Names(Dataset):
    def __init__(self):
        self.names = [f"patient-{k:09}-scan" for k in range(1_000_000)]

    def __len__(self):
        return len(self.names) // 5

    def __getitem__(self, i):
        part = self.names[i * 5 : i * 5 + 5]
        return torch.tensor(
            [len(part), ord(part[0][-6])], dtype=torch.float32
        ), i % 2


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(
        Names(),
        batch_size=2000,
        shuffle=True,
        num_workers=2,
        multiprocessing_context="fork",
        persistent_workers=True,
    )
    model = torch.nn.Sequential(
        torch.nn.Linear(2, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 2)
    )
    opt = torch.optim.SGD(model.parameters(), lr=0.001)
    for epoch in range(2):
        for step, (x, y) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(model(x.float()), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())
