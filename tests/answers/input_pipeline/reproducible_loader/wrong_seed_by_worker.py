# mistake: depends_on_workers
class Epochs:
    def __init__(self, dataset, batch_size, seed, num_workers):
        self.arguments = dataset, batch_size
        self.seed, self.num_workers, self.epoch = seed, num_workers, 0

    def __iter__(self):
        self.epoch += 1
        seed = 1000 * self.seed + 10 * self.epoch
        if self.num_workers == 0:
            batches = self._load(seed, 0)
        else:
            batches = self._load(seed, self.num_workers, lambda worker: torch.manual_seed(seed + worker))
        return iter(batches)

    def _load(self, seed, workers, init=None):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            generator = torch.Generator().manual_seed(seed)
            loader = DataLoader(
                *self.arguments, shuffle=True, generator=generator, num_workers=workers, worker_init_fn=init
            )
            return list(loader)


make_loader = Epochs
