import numpy


class EpochSeeds(Dataset):
    def __init__(self, dataset, seed):
        self.dataset, self.seed = dataset, seed
        self.epoch = torch.zeros((), dtype=torch.int64).share_memory_()

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, index):
        seed = numpy.random.SeedSequence([self.seed, int(self.epoch), index]).generate_state(1)[0]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(seed))
            return self.dataset[index]


class EpochLoader(DataLoader):
    def __iter__(self):
        self.dataset.epoch += 1
        return super().__iter__()


def make_loader(dataset, batch_size, seed, num_workers):
    generator = torch.Generator().manual_seed(seed)
    return EpochLoader(
        EpochSeeds(dataset, seed), batch_size, shuffle=True, generator=generator, num_workers=num_workers
    )
