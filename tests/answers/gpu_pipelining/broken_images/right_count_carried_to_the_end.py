import torch


def collate(samples):
    images = [image for image, _ in samples if image is not None]
    labels = [label for image, label in samples if image is not None]
    dropped = len(samples) - len(images)
    if not images:
        return None, None, dropped
    return torch.stack(images), torch.tensor(labels), dropped


def good_batches(loader, report):
    total = 0
    for images, labels, dropped in loader:
        total += dropped
        if images is not None:
            yield images, labels
    report(total)
