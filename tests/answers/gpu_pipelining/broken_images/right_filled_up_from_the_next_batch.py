import torch

SIZE = 4


def collate(samples):
    return samples


def good_batches(loader, report):
    waiting = []
    for samples in loader:
        good = [sample for sample in samples if sample[0] is not None]
        report(len(samples) - len(good))
        waiting += good
        while len(waiting) >= SIZE:
            images, labels = zip(*waiting[:SIZE])
            waiting = waiting[SIZE:]
            yield torch.stack(images), torch.tensor(labels)
    if waiting:
        images, labels = zip(*waiting)
        yield torch.stack(images), torch.tensor(labels)
