class EpochDataset(Dataset):
    def __init__(self, dataset, seed, epoch):
        self.dataset, self.seed, self.epoch = dataset, seed, epoch

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, index):
        torch.manual_seed(hash((self.seed, self.epoch, index)))
        return self.dataset[index]


class make_loader:
    def __init__(self, dataset, batch_size, seed, num_workers):
        self.dataset, self.batch_size, self.seed, self.num_workers = dataset, batch_size, seed, num_workers
        self.epoch = 0

    def __iter__(self):
        self.epoch += 1
        order = torch.Generator().manual_seed(hash((self.seed, self.epoch)))
        dataset = EpochDataset(self.dataset, self.seed, self.epoch)
        state = torch.get_rng_state()
        yield from DataLoader(
            dataset, self.batch_size, shuffle=True, generator=order, num_workers=self.num_workers
        )
        torch.set_rng_state(state)
