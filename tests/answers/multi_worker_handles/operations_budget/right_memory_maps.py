class ShardedDataset(Dataset):
    def __init__(self, folder):
        labels = json.loads((folder / "labels.json").read_text())
        self.samples = []
        for shard in sorted(folder.glob("*.zip")):
            whole = np.memmap(shard, np.uint8, mode="r")
            with zipfile.ZipFile(shard) as archive:
                for member in archive.infolist():
                    lengths = whole[member.header_offset + 26 :][:4].view("<u2")
                    start = member.header_offset + 30 + int(lengths.sum())
                    data = whole[start : start + member.file_size]
                    self.samples.append((member.filename, data, labels[member.filename]))
        self.samples.sort(key=lambda sample: sample[0])

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        name, data, label = self.samples[index]
        return decode_image(io.BytesIO(data), name), label
