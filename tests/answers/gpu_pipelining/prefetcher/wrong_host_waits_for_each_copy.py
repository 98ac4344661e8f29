# mistake: synchronises_every_step
import torch


def prefetch(loader, device, cuda=torch.cuda):
    side, ahead = cuda.Stream(), None
    for batch in loader:
        with cuda.stream(side):
            copied = [tensor.to(device, non_blocking=True) for tensor in batch], side.record_event()
        if ahead is not None:
            yield arrived(*ahead, cuda)
        ahead = copied
    if ahead is not None:
        yield arrived(*ahead, cuda)


def arrived(batch, done, cuda):
    done.synchronize()
    for tensor in batch:
        tensor.record_stream(cuda.current_stream())
    return batch
