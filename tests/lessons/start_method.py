"""Let every Python that a test starts begin its processes in one way, as another version would by default."""

from pathlib import Path


def by_default(method: str, folder: Path) -> dict[str, str]:
    """The environment in which fork, spawn or forkserver is the default; takes a file in the folder."""
    (folder / "sitecustomize.py").write_text(
        f"import multiprocessing\n\nmultiprocessing.set_start_method({method!r})\n"
    )
    return {"PYTHONPATH": str(folder)}
