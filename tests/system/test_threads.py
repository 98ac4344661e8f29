import torch

from course_utils.system.threads import one_thread


def test_thread_count_is_restored(monkeypatch):
    threads = [7]
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads[-1])
    monkeypatch.setattr(torch, "set_num_threads", threads.append)
    with one_thread():
        assert torch.get_num_threads() == 1
    assert threads == [7, 1, 7]
