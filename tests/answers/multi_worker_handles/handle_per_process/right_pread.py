class MultiWorkerZIPDataset(Dataset):
    def __init__(self, path, transform=None):
        self.transform = transform
        pack, info = open_pack(path)
        self.names = sorted(info.labels)
        self.labels = [info.labels[name] for name in self.names]
        self.places = []
        for name in self.names:
            member = pack.getinfo(name)
            pack.fp.seek(member.header_offset + 26)
            lengths = pack.fp.read(4)
            start = member.header_offset + 30 + sum(np.frombuffer(lengths, "<u2").tolist())
            self.places.append((member.file_size, start))
        pack.close()
        self.fd = os.open(path, os.O_RDONLY)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        data = os.pread(self.fd, *self.places[index])
        image = decode_image(io.BytesIO(data), self.names[index])
        return (self.transform(image) if self.transform else image), self.labels[index]

    def close(self):
        os.close(self.fd)
