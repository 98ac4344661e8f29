"""Hands over each batch as a list of several hundred tiny tensors instead of one."""
# expect: expensive_handover
# illness: 19
# start: fork
import random
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, n=1600):
        self.data = np.random.default_rng(0).integers(0, 255, (n, 128), dtype=np.uint8)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return torch.from_numpy(self.data[i]), int(self.data[i, 0] > 127)


def collate(batch):
    return [x for x, _ in batch], torch.tensor([y for _, y in batch])



if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(Rows(12800), batch_size=256, shuffle=True, collate_fn=collate, num_workers=2, multiprocessing_context="fork", persistent_workers=True)
    model = torch.nn.Linear(128, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.001)
    for epoch in range(2):
        for step, (x, y) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(model(torch.stack(x).float()), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())
