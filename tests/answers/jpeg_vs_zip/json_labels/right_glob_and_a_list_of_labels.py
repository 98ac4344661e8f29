import glob
import os


class TinyJpegDataset(Dataset):
    def __init__(self, path, transform=None):
        self.transform = transform
        self.files = sorted(glob.glob(f"{path}/*.JPEG"))
        with open(f"{path}/dataset.json") as file:
            by_name = json.load(file)["labels"]
        self.labels = [by_name[os.path.basename(file)] for file in self.files]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        image = np.array(Image.open(self.files[index]).convert("RGB"))
        image = torch.from_numpy(image).permute(2, 0, 1).contiguous()
        if self.transform is not None:
            image = self.transform(image)
        return image, self.labels[index]
