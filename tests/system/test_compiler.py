import pytest

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


@pytest.fixture
def headers_and_triton(monkeypatch, tmp_path):
    (tmp_path / "Python.h").touch()
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    monkeypatch.setattr("course_utils.system.compiler.find_spec", lambda name: object())
    return tmp_path


@pytest.mark.usefixtures("headers_and_triton")
def test_gpu_needs_c_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "true")
    assert can_compile("cuda")
    monkeypatch.setenv("CC", str(tmp_path / "none"))
    assert not can_compile("cuda")
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not can_compile("cuda")


def test_gpu_needs_python_headers(monkeypatch, headers_and_triton):
    monkeypatch.setenv("CC", "true")
    (headers_and_triton / "Python.h").unlink()
    assert not can_compile("cuda")


@pytest.mark.usefixtures("headers_and_triton")
def test_gpu_needs_triton(monkeypatch):
    monkeypatch.setenv("CC", "true")
    monkeypatch.setattr("course_utils.system.compiler.find_spec", lambda name: None)
    assert not can_compile("cuda")
