# mistake: label_of_another_image
def pack_folder(folder, zip_path):
    with zipfile.ZipFile(zip_path, "w", zipfile.ZIP_STORED) as pack:
        names = json.loads((folder / "dataset.json").read_text())["labels"]
        for file, name in zip(sorted(folder.glob("*.JPEG")), names):
            pack.write(file, arcname=name)
        pack.write(folder / "dataset.json", arcname="dataset.json")
