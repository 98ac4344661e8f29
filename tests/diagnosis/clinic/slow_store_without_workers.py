"""Opens a file a sample on a slow store (sleep stands for its latency) in the main process."""
# expect: no_workers, file_per_sample
# illness: 1, 10
# start: any
import os, tempfile, time
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset


def open_remote(path):
    time.sleep(0.004)  # round trips of the network file system
    return open(path, "rb")


class Small(Dataset):
    def __init__(self, folder, n):
        self.folder, self.n = folder, n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        path = os.path.join(self.folder, f"{i}.bin")
        os.stat(path)
        with open_remote(path) as f:
            return torch.frombuffer(bytearray(f.read()), dtype=torch.uint8), i % 2


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        for k in range(800):
            with open(f"{folder}/{k}.bin", "wb") as f:
                f.write(np.random.default_rng(k).bytes(2048))
        loader = DataLoader(Small(folder, 800), batch_size=16, shuffle=True)
        model = torch.nn.Linear(2048, 2)
        opt = torch.optim.SGD(model.parameters(), lr=0.01)
        for epoch in range(2):
            for x, y in loader:
                loss = torch.nn.functional.cross_entropy(model(x.float() / 255), y)
                opt.zero_grad(); loss.backward(); opt.step()
            print(epoch, loss.item())
