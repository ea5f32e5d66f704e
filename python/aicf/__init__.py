"""aicf: compiles a neural network into one file in which every decision is written down, and runs it.

>>> import aicf
>>> program = aicf.compile("rec.onnx", shapes={"x": (1, 3, 48, 320)})
>>> program.save("rec.aicf")
>>> session = aicf.load("rec.aicf").session()
>>> scores = session.run({"x": pixels})["softmax_11.tmp_0"]

Language models generate text through a :class:`Generator`, and embedding models make vectors through an
:class:`Embedder`:

>>> generator = aicf.Generator(aicf.compile("smollm2.gguf", context=2048))
>>> for piece in generator.generate("Why is the sky blue?", chat=True):
...     print(piece, end="", flush=True)

Everything that fails raises a class of :mod:`aicf.errors`, whose message names the object, what was expected
and what was found.
"""

from aicf._native import EntryPoint, TensorInfo
from aicf._native import version as __version__
from aicf.compiler import compile, load
from aicf.dtypes import numpy_dtype
from aicf.embedder import Embedder, EmbedderInfo
from aicf.errors import (
    AicfError,
    BadArtifact,
    BadModel,
    CheckFailed,
    DeviceError,
    FileError,
    InternalError,
    InvalidArgument,
    ResourceError,
    Unsupported,
)
from aicf.generator import Generator, LanguageInfo
from aicf.memory import SharedTensor, aligned_array
from aicf.program import Program, Verification
from aicf.session import Session
from aicf.stream import Generation, TextPart, TextStream

__all__ = [
    "AicfError",
    "BadArtifact",
    "BadModel",
    "CheckFailed",
    "DeviceError",
    "Embedder",
    "EmbedderInfo",
    "EntryPoint",
    "FileError",
    "Generation",
    "Generator",
    "InternalError",
    "InvalidArgument",
    "LanguageInfo",
    "Program",
    "ResourceError",
    "Session",
    "SharedTensor",
    "TensorInfo",
    "TextPart",
    "TextStream",
    "Unsupported",
    "Verification",
    "__version__",
    "aligned_array",
    "compile",
    "load",
    "numpy_dtype",
]
