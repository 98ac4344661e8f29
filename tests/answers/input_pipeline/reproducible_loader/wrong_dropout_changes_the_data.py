# mistake: noise_not_reproducible
class make_loader:
    def __init__(self, dataset, batch_size, seed, num_workers):
        self.arguments, self.seed, self.num_workers, self.epoch = (dataset, batch_size), seed, num_workers, 0

    def __iter__(self):
        self.epoch += 1
        torch.manual_seed(1000 * self.seed + self.epoch)
        yield from DataLoader(*self.arguments, shuffle=True, num_workers=self.num_workers)
