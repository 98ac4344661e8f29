# mistake: missing_pictures
def pack_folder(folder, zip_path):
    with zipfile.ZipFile(zip_path, "w", zipfile.ZIP_STORED) as pack:
        for number, file in enumerate(sorted(folder.glob("*.JPEG"))):
            pack.write(file, arcname=f"img{number:08d}.JPEG")
        pack.write(folder / "dataset.json", arcname="dataset.json")
