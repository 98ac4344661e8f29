"""Trains with the sampler of a distributed training, on one rank."""

import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(1600, 128), torch.randint(0, 2, (1600,)))
    sampler = DistributedSampler(data, num_replicas=1, rank=0, shuffle=True)
    loader = DataLoader(data, batch_size=32, sampler=sampler)
    model = torch.nn.Sequential(
        torch.nn.Linear(128, 1536),
        torch.nn.ReLU(),
        torch.nn.Linear(1536, 1536),
        torch.nn.ReLU(),
        torch.nn.Linear(1536, 2),
    )
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(3):
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())
