import torch


def collate(samples):
    good = [(image, label) for image, label in samples if image is not None]
    images = torch.stack([image for image, _ in good]) if good else torch.empty(0)
    return images, torch.tensor([label for _, label in good]), len(samples) - len(good)


def good_batches(loader, report):
    iterator = iter(loader)
    for images, labels, dropped in iterator:
        while len(images) == 0:
            report(dropped)
            try:
                images, labels, dropped = next(iterator)
            except StopIteration:
                return
        report(dropped)
        yield images, labels
