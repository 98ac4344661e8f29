# mistake: no_pack
import shutil


def pack_folder(folder, zip_path):
    shutil.make_archive(zip_path, "zip", folder)
