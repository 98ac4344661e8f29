def images_per_second(load_ms, compute_ms, num_workers, prefetch_factor, batch_size):
    n = len(load_ms)
    if num_workers == 0:
        total = sum(load_ms) + n * compute_ms
        return 1000 * n * batch_size / total
    jobs = [[] for _ in range(num_workers)]
    left = [0] * num_workers
    finished = set()
    sent = 0

    def send():
        nonlocal sent
        if sent < n:
            jobs[sent % num_workers].append(sent)
            sent += 1

    for _ in range(num_workers * prefetch_factor):
        send()
    time, computing, computed, taken = 0, 0, 0, 0
    doing = [None] * num_workers
    while computed < n:
        progress = True
        while progress:
            progress = False
            for w in range(num_workers):
                if doing[w] is not None and left[w] == 0:
                    finished.add(doing[w])
                    doing[w] = None
                    progress = True
                if doing[w] is None and jobs[w]:
                    doing[w] = jobs[w].pop(0)
                    left[w] = load_ms[doing[w]]
                    progress = True
            if computing == 0 and taken in finished:
                taken += 1
                computing = compute_ms
                send()
                progress = True
        time += 1
        left = [max(0, x - 1) for x in left]
        if computing:
            computing -= 1
            if computing == 0:
                computed += 1
    return 1000 * n * batch_size / time
