# mistake: other_images
import torch


def collate(samples):
    images = [torch.zeros(3, 4, 4, dtype=torch.uint8) if image is None else image for image, _ in samples]
    labels = torch.tensor([label for _, label in samples])
    return torch.stack(images), labels, sum(image is None for image, _ in samples)


def good_batches(loader, report):
    for images, labels, dropped in loader:
        report(dropped)
        yield images, labels
