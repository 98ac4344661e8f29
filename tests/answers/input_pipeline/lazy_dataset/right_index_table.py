import operator


class TransformedDataset(Dataset):
    def __init__(self, items, transform=None):
        self.items, self.transform = items, transform
        self.positions = list(range(len(items)))

    def __len__(self):
        return len(self.positions)

    def __getitem__(self, index):
        item = self.items[self.positions[operator.index(index)]]
        return self.transform(item) if self.transform is not None else item
