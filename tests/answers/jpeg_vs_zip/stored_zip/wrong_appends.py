# mistake: packed_twice
def pack_folder(folder, zip_path):
    with zipfile.ZipFile(zip_path, "a", zipfile.ZIP_STORED) as pack:
        for file in sorted(folder.glob("*.JPEG")):
            pack.write(file, arcname=file.name)
        pack.write(folder / "dataset.json", arcname="dataset.json")
