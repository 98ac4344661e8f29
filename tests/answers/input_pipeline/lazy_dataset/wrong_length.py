# mistake: wrong_length
class TransformedDataset(Dataset):
    def __init__(self, items, transform=None):
        self.items = items
        self.transform = transform

    def __len__(self):
        return len(self.items) - 1

    def __getitem__(self, index):
        return self.transform(self.items[index])
