# mistake: loses_good_images
from torch.utils.data import default_collate


def collate(samples):
    broken = sum(image is None for image, _ in samples)
    return (None if broken else default_collate(samples)), broken


def good_batches(loader, report):
    for batch, broken in loader:
        report(broken)
        if batch is not None:
            yield batch
