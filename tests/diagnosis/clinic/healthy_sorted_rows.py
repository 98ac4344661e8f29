"""Puts documents of like lengths into a batch, as Hugging Face's collators give it: little is padding."""
# expect: healthy
# illness: 0
# start: any
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset


class Documents(Dataset):
    def __init__(self, n=640):
        rng = np.random.default_rng(0)
        self.lengths = np.clip(rng.lognormal(4.5, 1.0, n), 16, 1024).astype(int)
        self.documents = [torch.from_numpy(rng.integers(1, 4096, length)) for length in self.lengths]

    def __len__(self):
        return len(self.documents)

    def __getitem__(self, i):
        return self.documents[i]


def collate(documents):
    tokens = torch.nn.utils.rnn.pad_sequence(documents, batch_first=True)
    return {"input_ids": tokens, "attention_mask": (tokens > 0).long()}


class Alike:
    def __init__(self, lengths, size=16):
        order = np.argsort(lengths)
        self.batches = [order[i : i + size].tolist() for i in range(0, len(order), size)]

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        return iter(self.batches[i] for i in torch.randperm(len(self.batches)))


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data = Documents()
    loader = DataLoader(data, batch_sampler=Alike(data.lengths), collate_fn=collate)
    model = torch.nn.Sequential(torch.nn.Embedding(4096, 128), torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(2):
        for batch in loader:
            x, mask = batch["input_ids"], batch["attention_mask"]
            loss = model(x)[mask > 0].square().mean()
            opt.zero_grad(); loss.backward(); opt.step()
        print(epoch, loss.item())
