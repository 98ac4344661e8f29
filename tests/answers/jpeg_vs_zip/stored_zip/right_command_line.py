# needs: zip
import subprocess


def pack_folder(folder, zip_path):
    names = [name.name for name in folder.iterdir() if name.suffix in (".JPEG", ".json")]
    subprocess.run(["zip", "-0", "-q", zip_path, *names], cwd=folder, check=True)
