# mistake: crash
from torch.utils.data import default_collate

collate = default_collate


def good_batches(loader, report):
    yield from loader
