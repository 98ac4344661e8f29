# mistake: transform_not_once
class TransformedDataset(Dataset):
    def __init__(self, items, transform=None):
        self.items, self.transform, self.cache = items, transform, {}

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        index = range(len(self.items))[index]
        if index not in self.cache:
            item = self.items[index]
            self.cache[index] = self.transform(item) if self.transform else item
        return self.cache[index]
