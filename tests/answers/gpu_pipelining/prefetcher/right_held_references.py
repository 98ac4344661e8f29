from collections import deque

import torch


def prefetch(loader, device, cuda=torch.cuda):
    side, held = cuda.Stream(), deque()

    def copies():
        for batch in loader:
            with cuda.stream(side):
                on_device = [tensor.to(device, non_blocking=True) for tensor in batch]
            yield on_device, side.record_event()

    def used(batch):
        held.append((batch, cuda.current_stream().record_event()))
        while held and held[0][1].query():
            held.popleft()

    source = copies()
    ahead = next(source, None)
    while ahead is not None:
        (batch, copied), ahead = ahead, next(source, None)
        cuda.current_stream().wait_event(copied)
        yield batch
        used(batch)
    if held:
        held[-1][1].synchronize()
