import os

from torchvision.io import ImageReadMode, decode_image


class TinyJpegDataset(Dataset):
    def __init__(self, path, transform=None):
        self.path, self.transform = str(path), transform
        with os.scandir(path) as entries:
            self.names = [entry.name for entry in entries if entry.is_file() and entry.name.endswith("JPEG")]
        self.names.sort()
        labels = json.loads(Path(path, "dataset.json").read_bytes())["labels"]
        self.labels = torch.tensor([labels[name] for name in self.names])

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = decode_image(os.path.join(self.path, self.names[index]), mode=ImageReadMode.RGB)
        return (image if self.transform is None else self.transform(image)), self.labels[index].item()
