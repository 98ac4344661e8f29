"""Trains on photographs, turned and cropped at random."""

import io, random
import numpy as np, torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset


class Photos(Dataset):
    def __init__(self, n=480):
        rng = np.random.default_rng(0)
        self.blobs = []
        for _ in range(n):
            b = io.BytesIO()
            Image.fromarray(
                rng.integers(0, 255, (40, 40, 3), dtype=np.uint8)
            ).resize((224, 224)).save(b, "JPEG")
            self.blobs.append(b.getvalue())

    def __len__(self):
        return len(self.blobs)

    def __getitem__(self, i):
        img = Image.open(io.BytesIO(self.blobs[i])).convert("RGB")
        img = img.rotate(random.uniform(-10, 10), Image.BICUBIC)
        x, y = random.randint(0, 16), random.randint(0, 16)
        img = img.crop((x, y, x + 208, y + 208))
        return torch.from_numpy(np.array(img)).permute(2, 0, 1), i % 4


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random.seed(0)
    loader = DataLoader(Photos(), batch_size=12, shuffle=True)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 5, stride=4),
        torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(8, 4),
    )
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(2):
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x.float() / 255), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())
