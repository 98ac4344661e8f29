"""Every sample is a view of the one buffer that the data set fills again, and the collate keeps views until the batch is complete."""
# expect: buffer_reused
# illness: 26
# start: any
import random
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset


class Frames(Dataset):
    def __init__(self):
        self.data = np.random.default_rng(0).normal(size=(1600, 128)).astype(np.float32)
        self.buffer = np.empty(128, dtype=np.float32)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        self.buffer[:] = self.data[i]
        return torch.from_numpy(self.buffer), i % 2


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(Frames(), batch_size=32, shuffle=True)
    model = torch.nn.Sequential(torch.nn.Linear(128, 1536), torch.nn.ReLU(), torch.nn.Linear(1536, 1536), torch.nn.ReLU(), torch.nn.Linear(1536, 2))
    opt = torch.optim.SGD(model.parameters(), lr=0.001)
    for epoch in range(2):
        for step, (x, y) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(model(x.float()), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())
