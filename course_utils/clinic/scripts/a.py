"""Trains on large photographs, shrunk to 64 pixels."""

import os, tempfile
import numpy as np, torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset


class Photos(Dataset):
    def __init__(self, folder):
        self.paths = sorted(os.path.join(folder, f) for f in os.listdir(folder))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        img = Image.open(self.paths[i]).convert("RGB")
        img = img.resize((64, 64), Image.BILINEAR)
        return torch.from_numpy(np.array(img)).permute(2, 0, 1), i % 2


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        for k in range(160):
            Image.fromarray(
                rng.integers(0, 255, (30, 40, 3), dtype=np.uint8)
            ).resize((1200, 900)).save(f"{folder}/{k:03}.jpg")
        loader = DataLoader(
            Photos(folder),
            batch_size=8,
            shuffle=True,
            num_workers=2,
            multiprocessing_context="fork",
            persistent_workers=True,
        )
        model = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 5, stride=2),
            torch.nn.ReLU(),
            torch.nn.AdaptiveAvgPool2d(1),
            torch.nn.Flatten(),
            torch.nn.Linear(8, 2),
        )
        opt = torch.optim.SGD(model.parameters(), lr=0.01)
        for epoch in range(2):
            for x, y in loader:
                loss = torch.nn.functional.cross_entropy(model(x.float() / 255), y)
                opt.zero_grad()
                loss.backward()
                opt.step()
            print(epoch, loss.item())
