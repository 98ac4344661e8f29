# mistake: wrong_count
from torch.utils.data import default_collate


def collate(samples):
    good = [sample for sample in samples if sample[0] is not None]
    return (*default_collate(good), len(samples) - len(good)) if good else None


def good_batches(loader, report):
    for batch in loader:
        if batch is None:
            continue
        images, labels, dropped = batch
        report(dropped)
        yield images, labels
