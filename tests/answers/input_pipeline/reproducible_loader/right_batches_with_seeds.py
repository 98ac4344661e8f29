import random


class Seeded(Dataset):
    def __init__(self, dataset):
        self.dataset = dataset

    def __getitem__(self, key):
        index, seed = key
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return self.dataset[index]


class Batches:
    def __init__(self, length, batch_size, seed):
        self.length, self.batch_size, self.random = length, batch_size, random.Random(seed)

    def __len__(self):
        return -(-self.length // self.batch_size)

    def __iter__(self):
        keys = [(index, self.random.getrandbits(60)) for index in range(self.length)]
        self.random.shuffle(keys)
        for start in range(0, self.length, self.batch_size):
            yield keys[start : start + self.batch_size]


def make_loader(dataset, batch_size, seed, num_workers):
    batches = Batches(len(dataset), batch_size, seed)
    return DataLoader(Seeded(dataset), batch_sampler=batches, num_workers=num_workers)
