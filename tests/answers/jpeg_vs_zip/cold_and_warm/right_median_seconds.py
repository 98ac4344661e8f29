import statistics


def measure_cold_and_warm(dataset, batch_size, num_workers):
    result = benchmark(
        dataset,
        epochs=5,
        batch_size=batch_size,
        num_workers=num_workers,
        persistent_workers=num_workers > 0,
        pin_memory=False,
        device="cpu",
        cold_start=True,
    )
    cold_seconds, *warm_seconds = result.epoch_seconds
    images = len(dataset)
    return result, images / cold_seconds, images / statistics.median(warm_seconds)
