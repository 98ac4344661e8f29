# mistake: missing_pictures
def pack_folder(folder, zip_path):
    for file in [folder / "dataset.json", *folder.glob("*.JPEG")][::-1]:
        with zipfile.ZipFile(zip_path, "w") as pack:
            pack.write(file, arcname=file.name)
