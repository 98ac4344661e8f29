from .glossary import PAGE as PAGE
from .glossary import Glossary as Glossary
from .linker import Entry as Entry
from .linker import Linker as Linker
from .outward_links import redirect as redirect
from .outward_links import to_book as to_book
from .package_names import PackageNames as PackageNames
from .package_names import Place as Place
