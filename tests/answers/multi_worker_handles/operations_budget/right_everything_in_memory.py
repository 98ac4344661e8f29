class ShardedDataset(Dataset):
    def __init__(self, folder):
        self.labels = json.loads((folder / "labels.json").read_text())
        self.members = {}
        for shard in folder.glob("part*.zip"):
            with zipfile.ZipFile(shard) as archive:
                self.members.update((name, archive.read(name)) for name in archive.namelist())
        self.names = sorted(self.members)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        name = self.names[index]
        return decode_image(io.BytesIO(self.members[name]), name), self.labels[name]
