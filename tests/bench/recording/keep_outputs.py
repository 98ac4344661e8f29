"""Put back what the cells of an executed notebook showed in the last commit, with the new execution counts.

    python -m tests.bench.recording.keep_outputs solutions/more/01_jpeg_vs_zip.ipynb --but new-cell

For a notebook that was executed only because a cell is new, as that of an exercise that measures nothing.
"""

import argparse
import subprocess
from pathlib import Path

import nbformat
from nbformat import NotebookNode


def keep(new: NotebookNode, old: NotebookNode, but: list[str]) -> None:
    """Give the cells of a notebook the outputs that cells with the same id and text have in another one."""
    former = {cell.id: cell for cell in old.cells if cell.cell_type == "code"}
    for cell in new.cells:
        known = former.get(cell.id)
        if known is None or cell.id in but or known.source != cell.source:
            continue
        cell.outputs = known.outputs
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = cell.execution_count


def main() -> None:
    """Rewrite a notebook."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--but", nargs="*", default=[], help="ids of cells that keep what they show now")
    options = parser.parse_args()
    notebook = nbformat.read(options.notebook, 4)
    committed = subprocess.run(
        ["git", "show", f"HEAD:./{options.notebook.name}"],
        cwd=options.notebook.parent,
        check=True,
        capture_output=True,
        text=True,
    )
    keep(notebook, nbformat.reads(committed.stdout, 4), options.but)
    nbformat.write(notebook, options.notebook)


if __name__ == "__main__":
    main()
