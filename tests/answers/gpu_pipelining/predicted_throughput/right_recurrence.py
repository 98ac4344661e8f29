def images_per_second(load_ms, compute_ms, num_workers, prefetch_factor, batch_size):
    loaded, taken, done = [], [], 0
    for k, load in enumerate(load_ms):
        if num_workers == 0:
            taken.append(done + load)
        else:
            limit = num_workers * prefetch_factor
            ordered = taken[k - limit] if k >= limit else 0
            worker_free = loaded[k - num_workers] if k >= num_workers else 0
            loaded.append(max(ordered, worker_free) + load)
            taken.append(max(done, loaded[k]))
        done = taken[k] + compute_ms
    return 1000 * batch_size * len(load_ms) / done
