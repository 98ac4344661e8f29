# mistake: not_copied
import torch


def prefetch(loader, device, cuda=torch.cuda):
    ahead = None
    for batch in loader:
        if ahead is not None:
            yield ahead
        ahead = batch
    if ahead is not None:
        yield ahead
