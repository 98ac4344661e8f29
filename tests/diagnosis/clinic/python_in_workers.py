"""Draws each sample in Python, in workers: to hand a batch's tensors over, their threads wait for the interpreter's lock."""
# expect: handover_locked
# illness: 19
# start: fork
import random
import torch
from torch.utils.data import DataLoader, Dataset


class Games(Dataset):
    def __len__(self):
        return 480

    def __getitem__(self, i):
        moves = [random.randrange(64) for _ in range(2000)]
        return {name: torch.tensor(moves[k :: 4][:64]) for k, name in enumerate(("from", "to", "piece", "taken"))}


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(Games(), batch_size=8, num_workers=2, multiprocessing_context="fork", persistent_workers=True)
    model = torch.nn.Embedding(64, 4)
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(3):
        for batch in loader:
            loss = sum(model(moves).square().mean() for moves in batch.values())
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())
