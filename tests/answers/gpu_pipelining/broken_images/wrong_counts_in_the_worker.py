# mistake: counts_in_the_worker
from torch.utils.data import default_collate

dropped = 0


def collate(samples):
    global dropped
    good = [sample for sample in samples if sample[0] is not None]
    dropped += len(samples) - len(good)
    return default_collate(good) if good else None


def good_batches(loader, report):
    global dropped
    dropped = 0
    for batch in loader:
        if batch is not None:
            yield batch
    report(dropped)
