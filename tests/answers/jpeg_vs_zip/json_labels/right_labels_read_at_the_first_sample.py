from functools import cached_property


class TinyJpegDataset(Dataset):
    def __init__(self, path, transform=None):
        self.path = Path(path)
        self.transform = transform

    @cached_property
    def names(self):
        return sorted(p.name for p in self.path.iterdir() if p.name.upper().endswith(".JPEG"))

    @cached_property
    def labels(self):
        return json.loads((self.path / "dataset.json").read_text())["labels"]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        name = self.names[index]
        image = io.BytesIO((self.path / name).read_bytes())
        image = torch.from_numpy(np.asarray(Image.open(image).convert("RGB")).transpose(2, 0, 1).copy())
        return (self.transform(image) if self.transform else image), self.labels[name]
