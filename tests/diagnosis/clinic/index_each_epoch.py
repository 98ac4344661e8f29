"""An IterableDataset parses its whole JSON index anew at the start of every epoch before the first sample."""
# expect: slow_start
# illness: 25
# start: fork
import json, random, tempfile
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset


class Indexed(torch.utils.data.IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        with open(self.path) as f:
            index = [json.loads(line) for line in f]
        index.sort(key=lambda row: row["key"])
        for row in index[:800]:
            yield torch.tensor(row["x"]), row["label"]


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    folder = tempfile.TemporaryDirectory()
    rng = random.Random(0)
    with open(f"{folder.name}/index.jsonl", "w") as f:
        for k in range(150_000):
            f.write(json.dumps({"key": rng.random(), "x": [k % 7, k % 5, k % 3, 1], "label": k % 2}) + "\n")
    loader = DataLoader(Indexed(folder.name + '/index.jsonl'), batch_size=16, num_workers=1, multiprocessing_context="fork", persistent_workers=True)
    model = torch.nn.Linear(4, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.001)
    for epoch in range(3):
        for step, (x, y) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(model(x.float()), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())
