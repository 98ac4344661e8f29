# mistake: compressed
import subprocess
import sys


def pack_folder(folder, zip_path):
    files = [*folder.glob("*.JPEG"), folder / "dataset.json"]
    subprocess.run([sys.executable, "-m", "zipfile", "-c", zip_path, *files], check=True)
