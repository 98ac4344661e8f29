"""Unpacks blocks in a pool of at least four threads in each worker, as libraries do that start a thread for each core."""
# expect: too_many_threads
# illness: 7
# start: any
import os, zlib
from concurrent.futures import ThreadPoolExecutor
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset


class Blocks(Dataset):
    def __init__(self):
        rng = np.random.default_rng(0)
        self.packed = [zlib.compress(rng.integers(0, 16, 2**18, dtype=np.uint8).tobytes(), 1) for _ in range(16)]
        self.pool = None

    def __len__(self):
        return 320

    def __getitem__(self, i):
        if self.pool is None:
            self.pool = ThreadPoolExecutor(max(4, os.cpu_count()))
        parts = self.pool.map(zlib.decompress, (self.packed[(i + k) % 16] for k in range(8)))
        return torch.tensor([float(part[i % 256]) for part in parts]), i % 2


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(Blocks(), batch_size=8, shuffle=True, num_workers=2, persistent_workers=True)
    model = torch.nn.Linear(8, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.001)
    for epoch in range(2):
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            opt.zero_grad(); loss.backward(); opt.step()
        print(epoch, loss.item())
