# needs: zip
def pack_folder(folder, zip_path):
    get_ipython().system(f"zip -0 -j -q {zip_path} {folder}/*.JPEG {folder}/dataset.json")
