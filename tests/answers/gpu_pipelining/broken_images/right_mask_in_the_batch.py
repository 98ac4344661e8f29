import torch


def collate(samples):
    kept = torch.tensor([image is not None for image, _ in samples])
    labels = torch.tensor([label for _, label in samples])[kept]
    images = [image for image, _ in samples if image is not None]
    return {"images": torch.stack(images) if images else None, "labels": labels, "kept": kept}


class GoodBatches:
    def __init__(self, loader, report):
        self.loader, self.report = loader, report

    def __iter__(self):
        for batch in self.loader:
            self.report((~batch["kept"]).sum())
            if batch["kept"].any():
                yield batch["images"], batch["labels"]


good_batches = GoodBatches
