import torch
from torch.utils.data import default_collate


def collate(samples):
    good = [sample for sample in samples if sample[0] is not None]
    dropped = len(samples) - len(good)
    return (default_collate(good) if good else None), dropped


def good_batches(loader, report):
    for batch, dropped in loader:
        if dropped:
            report(dropped)
        if batch is not None:
            images, labels = batch
            yield images, labels
