import torch


def prefetch(loader, device, cuda=torch.cuda):
    side = cuda.Stream()
    ahead = None
    for batch in loader:
        # All that was ever given away stands in the computing stream: what is freed may be written after it.
        side.wait_stream(cuda.current_stream())
        with cuda.stream(side):
            copied = [tensor.to(device, non_blocking=True) for tensor in batch]
            event = cuda.Event()
            event.record(side)
        if ahead is not None:
            yield ready(ahead, cuda)
        ahead = copied, event
        del copied
    if ahead is not None:
        yield ready(ahead, cuda)


def ready(ahead, cuda):
    batch, event = ahead
    cuda.current_stream().wait_event(event)
    return batch
