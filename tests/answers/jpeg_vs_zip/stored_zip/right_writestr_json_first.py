import os


def pack_folder(folder, zip_path):
    with zipfile.ZipFile(zip_path, mode="w") as pack:
        pack.writestr("dataset.json", (Path(folder) / "dataset.json").read_bytes())
        for name in os.listdir(folder):
            if name.endswith(".JPEG"):
                with open(os.path.join(folder, name), "rb") as file:
                    pack.writestr(name, file.read())
