# mistake: empty_batch
import torch


def collate(samples):
    good = [sample for sample in samples if sample[0] is not None]
    images = torch.stack([image for image, _ in good]) if good else torch.empty(0, 3, 4, 4)
    return images, torch.tensor([label for _, label in good]), len(samples) - len(good)


def good_batches(loader, report):
    for images, labels, dropped in loader:
        report(dropped)
        yield images, labels
