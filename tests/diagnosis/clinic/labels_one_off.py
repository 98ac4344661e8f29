"""Returns the picture of index i with the label of i-1 since a header line was counted; lists differ in length."""
# expect: labels_slipped
# illness: 30
# start: any
import random
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self):
        rng = np.random.default_rng(0)
        self.images = rng.integers(0, 255, (1600, 128), dtype=np.uint8)
        self.labels = [0] + [int(row[0] > 127) for row in self.images]  # the header became a label

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return torch.from_numpy(self.images[i]), self.labels[i]


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(Pairs(), batch_size=32, shuffle=True)
    model = torch.nn.Sequential(torch.nn.Linear(128, 1536), torch.nn.ReLU(), torch.nn.Linear(1536, 1536), torch.nn.ReLU(), torch.nn.Linear(1536, 2))
    opt = torch.optim.SGD(model.parameters(), lr=0.001)
    for epoch in range(2):
        for step, (x, y) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(model(x.float()), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())
