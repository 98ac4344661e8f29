import random


def pack_folder(folder, zip_path):
    labels = json.loads((folder / "dataset.json").read_text())["labels"]
    names = list(labels)
    random.shuffle(names)
    with zipfile.ZipFile(zip_path, "w", compression=zipfile.ZIP_STORED, allowZip64=True) as pack:
        for name in names:
            pack.write(folder / name, name)
        pack.writestr("dataset.json", json.dumps({"labels": {name: labels[name] for name in sorted(names)}}))
