# mistake: synchronises_every_step
from statistics import mean


def seconds_per_batch(loader, step, clock, device, epochs):
    times = []
    for epoch in range(epochs):
        start = clock()
        for batch in loader:
            step(batch)
            device.synchronize()
            end = clock()
            if epoch:
                times.append(end - start)
            start = end
    return mean(times)
