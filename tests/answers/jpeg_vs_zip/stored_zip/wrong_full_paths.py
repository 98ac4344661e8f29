# mistake: nested_names
def pack_folder(folder, zip_path):
    with zipfile.ZipFile(zip_path, "w", zipfile.ZIP_STORED) as pack:
        for file in sorted(folder.glob("*.JPEG")):
            pack.write(file)
        pack.write(folder / "dataset.json")
