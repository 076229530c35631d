"""Run docs/tutorial.ipynb and keep its outputs, as the documentation shows them.

python docs/assets/make_tutorial.py
"""

import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "tutorial.ipynb"


def executed(path=NOTEBOOK):
    """The notebook after a run in an empty folder, in a kernel of this Python."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}})
        client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of day
    notebook.metadata = {name: notebook.metadata[name] for name in ("kernelspec", "language_info")}
    notebook.metadata["language_info"].pop("version", None)
    return notebook


if __name__ == "__main__":
    nbformat.write(executed(), NOTEBOOK)
