class TransformedDataset:
    """Any class with these two methods will do for a DataLoader."""

    def __init__(self, items, transform=None):
        self._items = items
        self._transform = transform or (lambda item: item)

    def __len__(self):
        return len(self._items)

    def __getitem__(self, index):
        length = len(self._items)
        if index < 0:
            index += length
        if index < 0 or index >= length:
            raise IndexError(index)
        return self._transform(self._items[index])
