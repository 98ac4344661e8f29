from course_utils.system.compiler import can_compile


def test_cpu_needs_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("CXX", str(tmp_path / "none"))
    assert not can_compile("cpu")


def test_cpu_needs_python_headers(monkeypatch, tmp_path):
    monkeypatch.setenv("CXX", "true")
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    assert not can_compile("cpu")
    (tmp_path / "Python.h").touch()
    assert can_compile("cpu")


def test_gpu_needs_no_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "none")
    assert can_compile("cuda")
