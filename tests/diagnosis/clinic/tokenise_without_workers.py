"""Tokenises in the collate function, in the main process."""
# expect: no_workers, converted_each_time
# illness: 1, 21
# start: any
import random, re
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset


WORD = re.compile(r"[a-z]+|[0-9]|[^\sa-z0-9]")


class Texts(Dataset):
    def __init__(self):
        rng = random.Random(0)
        self.texts = ["".join(rng.choices("abcdefghij  ,.0", k=6000)) for _ in range(640)]

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        return self.texts[i], i % 2


def collate(batch):
    rows = []
    for text, _ in batch:
        ids = [sum(map(ord, word)) % 4096 for word in WORD.findall(text.lower())][:512]
        rows.append(ids + [0] * (512 - len(ids)))
    return torch.tensor(rows), torch.tensor([label for _, label in batch])



if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(Texts(), batch_size=16, shuffle=True, collate_fn=collate)
    model = torch.nn.Linear(512, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.001)
    for epoch in range(2):
        for step, (x, y) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(model(x.float()), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())
