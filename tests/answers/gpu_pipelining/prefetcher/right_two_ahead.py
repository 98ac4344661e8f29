from collections import deque
from itertools import islice

import torch


def prefetch(loader, device, cuda=torch.cuda, depth=2):
    side = cuda.Stream()
    source = iter(loader)
    queue = deque()

    def refill():
        for batch in islice(source, depth + 1 - len(queue)):
            with cuda.stream(side):
                tensors = tuple(tensor.to(device, non_blocking=True) for tensor in batch)
                queue.append((tensors, side.record_event()))

    refill()
    while queue:
        tensors, copied = queue.popleft()
        copied.wait(cuda.current_stream())
        for tensor in tensors:
            tensor.record_stream(cuda.current_stream())
        refill()
        yield tensors
