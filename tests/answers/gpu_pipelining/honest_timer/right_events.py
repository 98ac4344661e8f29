def seconds_per_batch(loader, step, clock, device, epochs):
    milliseconds, batches = 0.0, 0
    for epoch in range(epochs):
        device.synchronize()
        start = device.Event(enable_timing=True)
        end = device.Event(enable_timing=True)
        start.record()
        count = 0
        for batch in loader:
            step(batch)
            count += 1
        end.record()
        end.synchronize()
        if epoch > 0:
            milliseconds += start.elapsed_time(end)
            batches += count
    return milliseconds / 1000 / batches
