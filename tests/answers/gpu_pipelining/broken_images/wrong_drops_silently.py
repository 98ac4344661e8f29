# mistake: drops_silently
from torch.utils.data import default_collate


def collate(samples):
    good = [sample for sample in samples if sample[0] is not None]
    return default_collate(good) if good else None


def good_batches(loader, report):
    for batch in loader:
        if batch is not None:
            yield batch
