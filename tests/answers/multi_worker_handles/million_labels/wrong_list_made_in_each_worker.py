# mistake: copy_per_worker
class Labels:
    def __init__(self, path):
        self.labels, self.mine = np.loadtxt(path, dtype=np.int32), {}

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        pid = os.getpid()
        if pid not in self.mine:
            self.mine[pid] = self.labels.tolist()
        return self.mine[pid][index]


def load_labels(path):
    return Labels(path)
