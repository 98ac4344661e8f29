from .archives import list_images as list_images
from .file_reader import read_bytes as read_bytes
from .collection_source import CollectionSource as CollectionSource
from .photo_catalogue import PHOTOGRAPHS as PHOTOGRAPHS
from .photo_catalogue import photo_identity as photo_identity
from .photo_source import PhotoSource as PhotoSource
from .photo_source import load_photograph as load_photograph
from .preprocess import to_square as to_square
