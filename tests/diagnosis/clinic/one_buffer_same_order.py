"""Fills one buffer again for each sample and forgets set_epoch."""
# expect: buffer_reused, epoch_not_set
# illness: 26, 5
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
    loader = DataLoader(train := Frames(), batch_size=32, sampler=torch.utils.data.DistributedSampler(train, num_replicas=1, rank=0))
    model = torch.nn.Sequential(torch.nn.Linear(128, 1536), torch.nn.ReLU(), torch.nn.Linear(1536, 1536), torch.nn.ReLU(), torch.nn.Linear(1536, 2))
    opt = torch.optim.SGD(model.parameters(), lr=0.001)
    for epoch in range(2):
        for step, (x, y) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(model(x.float()), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())
