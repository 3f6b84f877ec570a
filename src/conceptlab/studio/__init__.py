"""The studio: a live page on this machine to browse runs, watch them, and prompt their models by hand.

It needs the extra `studio` (dash), listens on 127.0.0.1 only, reads only the folders it is given, and writes nothing.
"""

from conceptlab.studio.app import build
from conceptlab.studio.context import Studio
from conceptlab.studio.server import serve

__all__ = ["Studio", "build", "serve"]
