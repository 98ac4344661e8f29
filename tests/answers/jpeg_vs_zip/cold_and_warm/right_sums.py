def measure_cold_and_warm(dataset, batch_size, num_workers):
    result = benchmark(
        dataset,
        epochs=4,
        batch_size=batch_size,
        num_workers=num_workers,
        persistent_workers=True,
        pin_memory=True,
        device="cpu",
    )
    first, *later = result.epochs
    cold = first.images / first.seconds
    warm = sum(e.images for e in later) / sum(e.seconds for e in later)
    return result, cold, warm
