def pack_folder(folder, zip_path):
    with zipfile.ZipFile(zip_path, "x") as pack:
        for file in Path(folder).iterdir():
            if file.suffix in {".JPEG", ".json"}:
                pack.write(file, file.relative_to(folder))
