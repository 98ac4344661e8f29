# mistake: encoded_again
def pack_folder(folder, zip_path):
    with zipfile.ZipFile(zip_path, "w", zipfile.ZIP_STORED) as pack:
        for file in sorted(folder.glob("*.JPEG")):
            again = io.BytesIO()
            Image.open(file).save(again, "JPEG")
            pack.writestr(file.name, again.getvalue())
        pack.write(folder / "dataset.json", arcname="dataset.json")
