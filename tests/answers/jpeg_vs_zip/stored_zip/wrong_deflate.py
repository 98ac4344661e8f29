# mistake: compressed
def pack_folder(folder, zip_path):
    with zipfile.ZipFile(zip_path, "w", zipfile.ZIP_DEFLATED) as pack:
        for file in sorted(folder.glob("*.JPEG")):
            pack.write(file, arcname=file.name)
        pack.write(folder / "dataset.json", arcname="dataset.json")
