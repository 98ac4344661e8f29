class TravellingZIPDataset(Dataset):
    def __init__(self, path, flip=False):
        self.path = path
        pack, info = open_pack(path)
        pack.close()
        self.labels = info.labels
        self.names = sorted(self.labels)
        self.archive = zipfile.ZipFile(path)
        self.flip = flip

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        name = self.names[index]
        image = decode_image(io.BytesIO(self.archive.read(name)), name)
        return (image.flip(-1) if self.flip else image), self.labels[name]

    def __getstate__(self):
        state = self.__dict__.copy()
        del state["archive"]
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.archive = zipfile.ZipFile(self.path)
