import os


class TinyJpegDataset(Dataset):
    def __init__(self, path, transform=None):
        self.path = path
        self.transform = transform or (lambda image: image)
        here = set(os.listdir(path))
        with open(os.path.join(path, "dataset.json")) as file:
            self.samples = [(n, label) for n, label in json.load(file)["labels"].items() if n in here]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        name, label = self.samples[index]
        image = Image.open(os.path.join(self.path, name)).convert("RGB")
        return self.transform(pil_to_tensor(image)), label
