"""Turns byte pictures in memory into normalised float32 in the worker, so that conversion and four times the bytes dominate."""
# expect: floats_in_worker
# illness: 20
# start: fork
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self):
        self.images = np.random.default_rng(0).integers(0, 255, (320, 3, 256, 256), dtype=np.uint8)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        x = torch.from_numpy(self.images[i]).float().div(255)
        return (x - 0.5) / 0.25, i % 2


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(Images(), batch_size=16, shuffle=True, num_workers=1, multiprocessing_context="fork", persistent_workers=True)
    model = torch.nn.Sequential(torch.nn.AvgPool2d(32), torch.nn.Flatten(), torch.nn.Linear(192, 2))
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(3):
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            opt.zero_grad(); loss.backward(); opt.step()
        print(epoch, loss.item())
