# mistake: unlimited_prefetch
def images_per_second(load_ms, compute_ms, num_workers, prefetch_factor, batch_size):
    loaded, done = [], 0
    for k, load in enumerate(load_ms):
        if num_workers == 0:
            done += load + compute_ms
            continue
        loaded.append((loaded[k - num_workers] if k >= num_workers else 0) + load)
        done = max(done, loaded[k]) + compute_ms
    return 1000 * batch_size * len(load_ms) / done
