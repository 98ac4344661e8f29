# mistake: stray_member
def pack_folder(folder, zip_path):
    with zipfile.ZipFile(zip_path, "w", zipfile.ZIP_STORED) as pack:
        for file in sorted(folder.iterdir()):
            pack.write(file, arcname=file.name)
