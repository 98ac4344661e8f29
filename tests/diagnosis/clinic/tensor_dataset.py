"""Draws large batches of a table in memory row by row through TensorDataset and the default collate in a worker."""
# expect: python_per_sample
# illness: 12
# start: fork
import torch
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(100_000, 16), torch.randint(0, 2, (100_000,)))
    loader = DataLoader(data, batch_size=2000, shuffle=True, num_workers=1, multiprocessing_context="fork", persistent_workers=True)
    model = torch.nn.Linear(16, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            opt.zero_grad(); loss.backward(); opt.step()
        print(epoch, loss.item())
