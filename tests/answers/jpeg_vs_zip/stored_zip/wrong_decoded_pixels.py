# mistake: other_bytes
def pack_folder(folder, zip_path):
    with zipfile.ZipFile(zip_path, "w", zipfile.ZIP_STORED) as pack:
        for file in sorted(folder.glob("*.JPEG")):
            pack.writestr(file.name, np.asarray(Image.open(file)).tobytes())
        pack.write(folder / "dataset.json", arcname="dataset.json")
