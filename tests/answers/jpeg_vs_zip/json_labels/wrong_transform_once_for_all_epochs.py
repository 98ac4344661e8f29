# mistake: transform_not_each_time
class TinyJpegDataset(Dataset):
    def __init__(self, path, transform=None):
        self.path = Path(path)
        self.names = sorted(p.name for p in self.path.glob("*.JPEG"))
        self.labels = json.loads((self.path / "dataset.json").read_text())["labels"]
        images = [pil_to_tensor(Image.open(self.path / name).convert("RGB")) for name in self.names]
        self.images = [transform(image) if transform else image for image in images]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        name = self.names[index]
        return self.images[index], self.labels[name]
