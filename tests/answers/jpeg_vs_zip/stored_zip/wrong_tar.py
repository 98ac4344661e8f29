# mistake: no_zip
import tarfile


def pack_folder(folder, zip_path):
    with tarfile.open(zip_path, "w") as pack:
        for file in [*folder.glob("*.JPEG"), folder / "dataset.json"]:
            pack.add(file, arcname=file.name)
