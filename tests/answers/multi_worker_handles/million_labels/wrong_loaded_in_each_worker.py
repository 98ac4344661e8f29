# mistake: copy_per_worker
class Labels:
    def __init__(self, path):
        self.path, self.labels = path, None

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        if self.labels is None:
            self.labels = np.loadtxt(self.path, dtype=np.int32)
        return self.labels[index]


def load_labels(path):
    return Labels(path)
