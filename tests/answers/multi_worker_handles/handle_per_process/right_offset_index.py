from course_utils.data import ZipIndex


class MultiWorkerZIPDataset(Dataset):
    def __init__(self, path, transform=None):
        self.transform = transform
        self.index = ZipIndex(path)
        info = json.loads(bytes(self.index.read(self.index.find("dataset.json"))))
        self.names = sorted(info["labels"])
        self.labels = [info["labels"][name] for name in self.names]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        data = self.index.read(self.index.find(self.names[i]))
        image = decode_image(io.BytesIO(data), self.names[i])
        return (self.transform(image) if self.transform else image), self.labels[i]

    def close(self):
        self.index.close()
