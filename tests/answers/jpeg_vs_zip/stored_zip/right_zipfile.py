def pack_folder(folder, zip_path):
    """Pack the JPEG files and the dataset.json of a folder into a zip, uncompressed."""
    files = [*sorted(folder.glob("*.JPEG")), folder / "dataset.json"]
    with zipfile.ZipFile(zip_path, "w", zipfile.ZIP_STORED) as pack:
        for file in files:
            pack.write(file, arcname=file.name)
