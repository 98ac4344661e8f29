# mistake: nothing_ahead
import torch


def prefetch(loader, device, cuda=torch.cuda):
    side = cuda.Stream()
    for batch in loader:
        side.wait_stream(cuda.current_stream())
        with cuda.stream(side):
            copied = [tensor.to(device, non_blocking=True) for tensor in batch]
        cuda.current_stream().wait_stream(side)
        yield copied
