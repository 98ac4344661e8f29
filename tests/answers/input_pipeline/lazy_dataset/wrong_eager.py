# mistake: eager_transform
class TransformedDataset(Dataset):
    def __init__(self, items, transform=None):
        self.samples = [transform(items[i]) if transform else items[i] for i in range(len(items))]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index]
