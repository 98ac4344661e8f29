import torch


def prefetch(loader, device, cuda=torch.cuda):
    side = cuda.Stream()
    batches = iter(loader)

    def copy_next():
        batch = next(batches, None)
        if batch is None:
            return None
        with cuda.stream(side):
            return [tensor.to(device, non_blocking=True) for tensor in batch]

    ahead = copy_next()
    while ahead is not None:
        cuda.current_stream().wait_stream(side)
        for tensor in ahead:
            tensor.record_stream(cuda.current_stream())
        batch, ahead = ahead, copy_next()
        yield batch
