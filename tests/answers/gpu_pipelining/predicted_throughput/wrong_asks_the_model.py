# mistake: crash
from course_utils.pipeline import Pipeline, StageTimes, simulate


def images_per_second(load_ms, compute_ms, num_workers, prefetch_factor, batch_size):
    pipeline = Pipeline(num_workers, prefetch_factor, accelerator=False)
    run = simulate(pipeline, StageTimes(decode=load_ms, compute=compute_ms), len(load_ms), batch_size)
    return 1000 * run.throughput()
