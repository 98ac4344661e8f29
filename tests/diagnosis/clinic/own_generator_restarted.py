"""Draws from a generator of the data set and starts its workers anew each of three short epochs under spawn."""
# expect: repeated_random_numbers, workers_restarted
# illness: 3, 6
# start: spawn
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset


class Spectra(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(7)
        self.data = np.random.default_rng(1).normal(size=(640, 256)).astype(np.float32)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        x = self.data[i] * self.rng.uniform(0.8, 1.2) + self.rng.normal(0, 0.1, 256)
        return torch.from_numpy(x.astype(np.float32)), torch.tensor(i % 3)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(Spectra(), batch_size=32, shuffle=True, num_workers=2, multiprocessing_context="spawn")
    model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 3))
    opt = torch.optim.Adam(model.parameters())
    for epoch in range(3):
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            opt.zero_grad(); loss.backward(); opt.step()
        print(epoch, loss.item())
