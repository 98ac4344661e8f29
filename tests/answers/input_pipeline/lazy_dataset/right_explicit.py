class TransformedDataset(Dataset):
    def __init__(self, items, transform=None):
        self.items = items
        self.transform = transform

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        item = self.items[index % len(self)]
        return self.transform(item) if self.transform else item
