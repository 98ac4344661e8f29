# mistake: wrong_prediction
def images_per_second(load_ms, compute_ms, num_workers, prefetch_factor, batch_size):
    loaded, ends = [], []
    for k, load in enumerate(load_ms):
        limit = num_workers * prefetch_factor
        last = ends[-1] if ends else 0
        if num_workers == 0:
            ends.append(last + load + compute_ms)
            continue
        ordered = ends[k - limit] if k >= limit else 0
        worker_free = loaded[k - num_workers] if k >= num_workers else 0
        loaded.append(max(ordered, worker_free) + load)
        ends.append(max(last, loaded[k]) + compute_ms)
    return 1000 * batch_size * len(load_ms) / ends[-1]
