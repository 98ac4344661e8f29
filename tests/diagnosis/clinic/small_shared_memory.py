"""Hands over volumes in a container with 64 MiB of /dev/shm, Docker's default (`os.statvfs` stands for the container)."""
# expect: shared_memory_too_small
# illness: 2
# start: any
import os
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset

BLOCKS = 64 * 2**20 // 4096
container = os.statvfs_result((4096, 4096, BLOCKS, BLOCKS, BLOCKS, 0, 0, 0, 0, 255))
real = os.statvfs
os.statvfs = lambda path: container if path == "/dev/shm" else real(path)


class Volumes(Dataset):
    def __init__(self):
        self.data = np.random.default_rng(0).integers(0, 255, (16, 96, 104, 100), dtype=np.uint8)

    def __len__(self):
        return 160

    def __getitem__(self, i):
        return torch.from_numpy(self.data[i % 16]), i % 2


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(Volumes(), batch_size=10, shuffle=True, num_workers=2, persistent_workers=True)
    model = torch.nn.Linear(96, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.001)
    for epoch in range(2):
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x.float().mean((2, 3)) / 255), y)
            opt.zero_grad(); loss.backward(); opt.step()
        print(epoch, loss.item())
