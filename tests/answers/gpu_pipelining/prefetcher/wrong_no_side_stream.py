# mistake: no_side_stream
import torch


def prefetch(loader, device, cuda=torch.cuda):
    ahead = None
    for batch in loader:
        copied = [tensor.to(device, non_blocking=True) for tensor in batch]
        if ahead is not None:
            yield ahead
        ahead = copied
    if ahead is not None:
        yield ahead
