"""Pads each batch of documents to the longest one: most of what the model computes is padding."""
# expect: padding
# illness: 31
# start: any
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset


class Documents(Dataset):
    def __init__(self, n=640):
        rng = np.random.default_rng(0)
        self.lengths = np.clip(rng.lognormal(4.5, 1.0, n), 16, 2048).astype(int)
        self.documents = [torch.from_numpy(rng.integers(1, 4096, length)) for length in self.lengths]

    def __len__(self):
        return len(self.documents)

    def __getitem__(self, i):
        return self.documents[i]


def collate(documents):
    return torch.nn.utils.rnn.pad_sequence(documents, batch_first=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data = Documents()
    loader = DataLoader(data, batch_size=16, shuffle=True, collate_fn=collate)
    model = torch.nn.Sequential(torch.nn.Embedding(4096, 128), torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(2):
        for x in loader:
            loss = model(x)[x > 0].square().mean()
            opt.zero_grad(); loss.backward(); opt.step()
        print(epoch, loss.item())
