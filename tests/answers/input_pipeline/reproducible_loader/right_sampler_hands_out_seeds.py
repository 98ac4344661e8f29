class SeededSampler(torch.utils.data.Sampler):
    """Yields (index, seed of this sample in this epoch)."""

    def __init__(self, length, seed):
        self.length, self.generator = length, torch.Generator().manual_seed(seed)

    def __len__(self):
        return self.length

    def __iter__(self):
        order = torch.randperm(self.length, generator=self.generator)
        seeds = torch.randint(2**62, (self.length,), generator=self.generator)
        return iter(list(zip(order.tolist(), seeds.tolist())))


class SeededDataset(Dataset):
    """Loads a sample with torch's generator set to the seed that came with its index."""

    def __init__(self, dataset):
        self.dataset = dataset

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, index_and_seed):
        index, seed = index_and_seed
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return self.dataset[index]


def make_loader(dataset, batch_size, seed, num_workers):
    sampler = SeededSampler(len(dataset), seed)
    return DataLoader(SeededDataset(dataset), batch_size, sampler=sampler, num_workers=num_workers)
