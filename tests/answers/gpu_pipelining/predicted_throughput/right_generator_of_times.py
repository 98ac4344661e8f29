from itertools import pairwise


def images_per_second(load_ms, compute_ms, num_workers, prefetch_factor, batch_size):
    ends = [0.0]
    if num_workers == 0:
        for load in load_ms:
            ends.append(ends[-1] + load + compute_ms)
    else:
        ready, began = {}, {}
        for k in range(len(load_ms)):
            earliest = began.get(k - num_workers * prefetch_factor, 0.0)
            ready[k] = max(earliest, ready.get(k - num_workers, 0.0)) + load_ms[k]
            began[k] = max(ends[-1], ready[k])
            ends.append(began[k] + compute_ms)
    seconds = sum(b - a for a, b in pairwise(ends)) / 1000
    return len(load_ms) * batch_size / seconds
