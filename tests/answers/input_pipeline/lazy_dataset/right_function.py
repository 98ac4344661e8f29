def TransformedDataset(items, transform=None):
    class Lazy(Dataset):
        def __len__(self):
            return len(items)

        def __getitem__(self, index):
            index = range(len(items))[index]
            return transform(items[index]) if transform else items[index]

    return Lazy()
