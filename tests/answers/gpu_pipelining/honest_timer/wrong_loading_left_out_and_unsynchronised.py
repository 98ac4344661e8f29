# mistake: loading_left_out
def seconds_per_batch(loader, step, clock, device, epochs):
    total, count = 0.0, 0
    for epoch in range(epochs):
        for batch in loader:
            start = clock()
            step(batch)
            total += clock() - start
            count += 1
    return total / count
