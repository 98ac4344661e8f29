"""Trains many short epochs under spawn without persistent workers, so that most of each epoch is the start of workers."""
# expect: workers_restarted
# illness: 6
# start: spawn
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self):
        self.data = np.random.default_rng(1).integers(0, 255, (640, 128), dtype=np.uint8)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return torch.from_numpy(self.data[i]), int(self.data[i, 0] > 127)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(Rows(), batch_size=32, shuffle=True, num_workers=1, multiprocessing_context="spawn")
    model = torch.nn.Sequential(torch.nn.Linear(128, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 2))
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(3):
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x.float() / 255), y)
            opt.zero_grad(); loss.backward(); opt.step()
        print(epoch, loss.item())
