"""Sums random numbers for documents of which every 160th is 1500 times longer, so that batches wait in order behind it."""
# expect: slow_sample
# illness: 22
# start: fork
import random
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset


class Documents(Dataset):
    def __len__(self):
        return 1600

    def __getitem__(self, i):
        size = 600_000 if i % 160 == 7 else 400
        rng, total = random.Random(i), 0.0
        for _ in range(size):
            total += rng.random()
        return torch.full((128,), total / size), i % 2


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(Documents(), shuffle=True, batch_size=16, num_workers=2, multiprocessing_context="fork", persistent_workers=True)
    model = torch.nn.Linear(128, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.001)
    for epoch in range(2):
        for step, (x, y) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(model(x.float()), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())
