# mistake: order_ignored
import heapq


def images_per_second(load_ms, compute_ms, num_workers, prefetch_factor, batch_size):
    if num_workers == 0:
        return 1000 * batch_size * len(load_ms) / (sum(load_ms) + len(load_ms) * compute_ms)
    free = [0] * num_workers
    ready, orders, done = [], iter(load_ms), 0

    def order(when):
        load = next(orders, None)
        if load is not None:
            worker = free.index(min(free))
            free[worker] = max(free[worker], when) + load
            heapq.heappush(ready, free[worker])

    for _ in range(num_workers * prefetch_factor):
        order(0)
    while ready:
        taken = max(done, heapq.heappop(ready))
        order(taken)
        done = taken + compute_ms
    return 1000 * batch_size * len(load_ms) / done
