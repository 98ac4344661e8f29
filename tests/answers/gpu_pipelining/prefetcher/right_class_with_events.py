import torch


class prefetch:
    def __init__(self, loader, device, cuda=torch.cuda):
        self.loader, self.device, self.cuda = loader, device, cuda

    def __iter__(self):
        self.batches = iter(self.loader)
        self.side = self.cuda.Stream()
        self._fetch()
        return self

    def _fetch(self):
        try:
            batch = next(self.batches)
        except StopIteration:
            self.batch = None
            return
        with self.cuda.stream(self.side):
            self.batch = [tensor.to(self.device, non_blocking=True) for tensor in batch]
            self.copied = self.cuda.Event()
            self.copied.record(self.side)

    def __next__(self):
        if self.batch is None:
            raise StopIteration
        main = self.cuda.current_stream()
        main.wait_event(self.copied)
        for tensor in self.batch:
            tensor.record_stream(main)
        batch = self.batch
        self._fetch()
        return batch
