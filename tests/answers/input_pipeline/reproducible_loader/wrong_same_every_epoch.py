# mistake: same_order_every_epoch
class Seeded(Dataset):
    def __init__(self, dataset):
        self.dataset = dataset

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, index):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1000 * index)
            return self.dataset[index]


class make_loader:
    def __init__(self, dataset, batch_size, seed, num_workers):
        self.loader = lambda: DataLoader(
            Seeded(dataset),
            batch_size,
            shuffle=True,
            generator=torch.Generator().manual_seed(seed),
            num_workers=num_workers,
        )

    def __iter__(self):
        return iter(self.loader())
