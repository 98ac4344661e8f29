from . import zip_format as zip_format
from .large_zip import write_many_members as write_many_members
from .zip_file import RegularZipFile as RegularZipFile
from .zip_file import index_path as index_path
from .zip_index import ZipIndex as ZipIndex
