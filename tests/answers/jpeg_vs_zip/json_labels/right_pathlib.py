class TinyJpegDataset(Dataset):
    """JPEG files of a folder, with the labels that its dataset.json gives to their names."""

    def __init__(self, path, transform=None):
        self.path = Path(path)
        self.transform = transform
        self.names = sorted(p.name for p in self.path.iterdir() if p.suffix == ".JPEG")
        self.labels = json.loads((self.path / "dataset.json").read_text())["labels"]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        name = self.names[index]
        with Image.open(self.path / name) as image:
            pixels = pil_to_tensor(image.convert("RGB"))
        if self.transform:
            pixels = self.transform(pixels)
        return pixels, self.labels[name]
