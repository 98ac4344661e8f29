"""Sources of images: a seeded sample of a collection, or crops of the photographs in installed packages."""
