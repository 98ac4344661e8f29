# mistake: synchronises_every_step
import torch


def prefetch(loader, device, cuda=torch.cuda):
    side = cuda.Stream()
    ahead = None
    for batch in loader:
        with cuda.stream(side):
            copied = [tensor.to(device, non_blocking=True) for tensor in batch]
        cuda.synchronize()
        if ahead is not None:
            yield ahead
        ahead = copied
    if ahead is not None:
        yield ahead
