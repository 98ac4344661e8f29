"""Reads and unpacks a whole 4 MB array file in a worker to take one row of it."""
# expect: too_much_read
# illness: 28
# start: fork
import tempfile
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset


class Shards(Dataset):
    def __init__(self, folder):
        self.folder = folder

    def __len__(self):
        return 640

    def __getitem__(self, i):
        shard = np.load(f"{self.folder}/shard{i // 80}.npy")
        return torch.from_numpy(shard[i % 80].copy()), i % 2


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    folder = tempfile.TemporaryDirectory()
    for k in range(8):
        np.save(f"{folder.name}/shard{k}.npy", np.random.default_rng(k).integers(0, 255, (8192, 512), dtype=np.uint8))
    loader = DataLoader(Shards(folder.name), batch_size=16, shuffle=True, num_workers=2, multiprocessing_context="fork", persistent_workers=True)
    model = torch.nn.Linear(512, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.001)
    for epoch in range(2):
        for step, (x, y) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(model(x.float()), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())
