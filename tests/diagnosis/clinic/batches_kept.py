"""Keeps the labels of all batches for a score at the end: each holds a descriptor of the worker's memory, of 1,024."""
# expect: descriptors_run_out
# illness: 17
# start: any
import resource
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset

resource.setrlimit(resource.RLIMIT_NOFILE, (1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


class Rows(Dataset):
    def __init__(self):
        self.data = np.random.default_rng(0).integers(0, 255, (1400, 128), dtype=np.uint8)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return torch.from_numpy(self.data[i]), int(self.data[i, 0] > 127)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(Rows(), batch_size=4, shuffle=True, num_workers=2, persistent_workers=True)
    model = torch.nn.Sequential(torch.nn.Linear(128, 512), torch.nn.ReLU(), torch.nn.Linear(512, 2))
    opt = torch.optim.SGD(model.parameters(), lr=0.001)
    labels = []
    for epoch in range(2):
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x.float()), y)
            opt.zero_grad(); loss.backward(); opt.step()
            labels.append(y)
        print(epoch, torch.cat(labels).float().mean().item())
