class MultiWorkerZIPDataset(Dataset):
    def __init__(self, path, transform=None):
        self.path = path
        self.transform = transform
        pack, info = open_pack(path)
        pack.close()
        self.names = sorted(info.labels)
        self.labels = [info.labels[name] for name in self.names]
        self.handles = {}

    def _get_file_handle(self):
        pid = os.getpid()
        if pid not in self.handles:
            self.handles[pid] = zipfile.ZipFile(self.path)
        return self.handles[pid]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        data = self._get_file_handle().read(self.names[index])
        image = decode_image(io.BytesIO(data), self.names[index])
        return (self.transform(image) if self.transform else image), self.labels[index]

    def close(self):
        for archive in self.handles.values():
            archive.close()
        self.handles.clear()
