from statistics import median


def seconds_per_batch(loader, step, clock, device, epochs):
    times = []
    for _ in range(epochs):
        device.synchronize()
        start = clock()
        for count, batch in enumerate(loader, start=1):
            step(batch)
        device.synchronize()
        times.append((clock() - start) / count)
    return median(times[1:])
