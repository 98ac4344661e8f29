"""Trains on two ranks with a shard each, of which one is larger: the other waits where they average their weights."""
# expect: uneven_ranks
# illness: 29
# start: any
import os, tempfile
import numpy as np, torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, TensorDataset

SHARDS = (1200, 720)


def train(rank, folder):
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    rows = torch.from_numpy(np.random.default_rng(rank).random((SHARDS[rank], 128), dtype=np.float32))
    loader = DataLoader(TensorDataset(rows, (rows[:, 0] > 0.5).long()), batch_size=16, shuffle=True)
    model = torch.nn.Sequential(torch.nn.Linear(128, 1536), torch.nn.ReLU(), torch.nn.Linear(1536, 1536), torch.nn.ReLU(), torch.nn.Linear(1536, 2))
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(2):
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            opt.zero_grad(); loss.backward(); opt.step()
        for weight in model.parameters():
            dist.all_reduce(weight.data)
            weight.data /= 2
        print(rank, epoch, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, (folder,), nprocs=2)
