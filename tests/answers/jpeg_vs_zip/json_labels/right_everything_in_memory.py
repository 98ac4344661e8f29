class TinyJpegDataset(Dataset):
    def __init__(self, path, transform=None):
        labels = json.loads((Path(path) / "dataset.json").read_text())["labels"]
        self.samples = []
        for file in sorted(Path(path).glob("*.JPEG")):
            self.samples.append((pil_to_tensor(Image.open(file).convert("RGB")), labels[file.name]))
        self.transform = transform

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        image, label = self.samples[index]
        if self.transform:
            image = self.transform(image)
        return image, label
