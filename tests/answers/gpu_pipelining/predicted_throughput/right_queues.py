from collections import deque


def images_per_second(load_ms, compute_ms, num_workers, prefetch_factor, batch_size):
    batches = len(load_ms)
    now = 0
    if num_workers == 0:
        now = sum(load_ms) + batches * compute_ms
    else:
        queues = [deque() for _ in range(num_workers)]
        busy_until = [0] * num_workers
        orders = iter(range(batches))

        def order(when):
            for k in orders:
                worker = k % num_workers
                busy_until[worker] = max(busy_until[worker], when) + load_ms[k]
                queues[worker].append(busy_until[worker])
                return

        for _ in range(num_workers * prefetch_factor):
            order(0)
        for k in range(batches):
            now = max(now, queues[k % num_workers].popleft())
            order(now)
            now += compute_ms
    return batches * batch_size / (now / 1000)
