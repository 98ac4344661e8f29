def measure_cold_and_warm(dataset, batch_size, num_workers):
    result = benchmark(dataset, 6, batch_size, num_workers, False, False, torch.device("cpu"))
    return result, result.images / result.first.median, result.rate.median
