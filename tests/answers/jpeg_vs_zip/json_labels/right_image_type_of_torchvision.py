from torchvision import tv_tensors
from torchvision.transforms.v2.functional import to_image


class TinyJpegDataset(Dataset):
    def __init__(self, path, transform=None):
        labels = json.loads((path / "dataset.json").read_text())["labels"]
        self.samples = [(file, labels[file.name]) for file in path.rglob("img*.JPEG")]
        self.transform = transform

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        file, label = self.samples[index]
        with file.open("rb") as stream:
            image = to_image(Image.open(stream).convert("RGB"))
        assert isinstance(image, tv_tensors.Image)
        return (self.transform(image) if self.transform else image), np.int64(label)
