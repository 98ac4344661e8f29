# mistake: loses_labels
import torch


def collate(samples):
    images = [image for image, _ in samples if image is not None]
    labels = torch.tensor([label for _, label in samples])
    return (torch.stack(images) if images else None), labels, len(samples) - len(images)


def good_batches(loader, report):
    for images, labels, dropped in loader:
        report(dropped)
        if images is not None:
            yield images, labels
