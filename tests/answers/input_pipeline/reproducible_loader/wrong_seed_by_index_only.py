# mistake: same_noise_every_epoch
class Seeded(Dataset):
    def __init__(self, dataset, seed):
        self.dataset, self.seed = dataset, seed

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, index):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed + index)
            return self.dataset[index]


def make_loader(dataset, batch_size, seed, num_workers):
    generator = torch.Generator().manual_seed(seed)
    return DataLoader(
        Seeded(dataset, 1000 * seed), batch_size, shuffle=True, generator=generator, num_workers=num_workers
    )
