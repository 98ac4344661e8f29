class MultiWorkerZIPDataset(Dataset):
    def __init__(self, path, transform=None):
        self.transform = transform
        pack, info = open_pack(path)
        with pack:
            self.names = sorted(info.labels)
            self.members = [pack.read(name) for name in self.names]
        self.labels = [info.labels[name] for name in self.names]

    def __len__(self):
        return len(self.members)

    def __getitem__(self, index):
        image = decode_image(io.BytesIO(self.members[index]), self.names[index])
        return (self.transform(image) if self.transform else image), self.labels[index]

    def close(self):
        pass
