# mistake: label_of_another_image
def pack_folder(folder, zip_path):
    with zipfile.ZipFile(zip_path, "w", zipfile.ZIP_STORED) as pack:
        for file in sorted(folder.glob("*.JPEG")):
            pack.write(file, arcname=file.name)
        labels = json.loads((folder / "dataset.json").read_text())["labels"]
        pack.writestr("dataset.json", json.dumps({"labels": dict(zip(sorted(labels), labels.values()))}))
