class TinyJpegDataset(Dataset):
    def __init__(self, path, transform=None):
        self.path = Path(path)
        self.transform = transform
        self.names = sorted(p.name for p in self.path.glob("*.JPEG"))
        self.labels = json.loads((self.path / "dataset.json").read_text())["labels"]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        name = self.names[index]
        image = pil_to_tensor(Image.open(self.path / name).convert("RGB"))
        if self.transform:
            image = self.transform(image)
        return image, self.labels[name]
