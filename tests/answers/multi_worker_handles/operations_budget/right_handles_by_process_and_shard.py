class ShardedDataset(Dataset):
    def __init__(self, folder):
        self.folder = folder
        self.labels = json.loads((folder / "labels.json").read_text())
        self.shard_of = {}
        for shard in sorted(folder.glob("*.zip")):
            with zipfile.ZipFile(shard) as archive:
                self.shard_of |= dict.fromkeys(archive.namelist(), shard)
        self.names = sorted(self.shard_of)
        self.handles = {}

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        name = self.names[index]
        key = os.getpid(), self.shard_of[name]
        if key not in self.handles:
            self.handles[key] = zipfile.ZipFile(self.shard_of[name])
        data = self.handles[key].read(name)
        return decode_image(io.BytesIO(data), name), self.labels[name]
