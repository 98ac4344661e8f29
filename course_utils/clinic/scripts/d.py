"""Trains on spectra, with noise added to each."""

import numpy as np, torch
from torch.utils.data import DataLoader, Dataset


class Spectra(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(7)
        noise = np.random.default_rng(1).normal(size=(1600, 256))
        self.data = noise.astype(np.float32)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        x = self.data[i] * self.rng.uniform(0.8, 1.2) + self.rng.normal(0, 0.1, 256)
        return torch.from_numpy(x.astype(np.float32)), torch.tensor(i % 3)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(
        Spectra(),
        batch_size=32,
        shuffle=True,
        num_workers=2,
        multiprocessing_context="fork",
    )
    model = torch.nn.Sequential(
        torch.nn.Linear(256, 1024),
        torch.nn.ReLU(),
        torch.nn.Linear(1024, 1024),
        torch.nn.ReLU(),
        torch.nn.Linear(1024, 1024),
        torch.nn.ReLU(),
        torch.nn.Linear(1024, 3),
    )
    opt = torch.optim.Adam(model.parameters())
    for epoch in range(2):
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())
