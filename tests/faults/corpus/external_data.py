"""Group B: weights in files of their own, which a model may name only beneath its own directory."""

import os

import numpy as np
from onnx import TensorProto, helper

from case import case, put

DATA = np.arange(4, dtype=np.float32).tobytes()


def built(entries):
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, (4,))
    t = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, text in entries:
        t.external_data.add(key=key, value=text)
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [value("x")], [value("y")], [t])
    return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 18)]).SerializeToString()


def external(row, name, code, message, entries, prepare=lambda folder: None, flags=(), output="out.aicf"):
    """The model lies in a folder of its own; beside that folder is a file that is none of its business, and a
    store, which is only where a flag says so."""

    @case(row, name, code, message, None if code == 0 else data_unchanged)
    def _(folder):
        put(folder, "outside.bin", DATA)
        put(folder, "store/w.bin", DATA)
        put(folder, "model/w.bin", DATA)
        prepare(os.path.join(folder, "model"))
        return [put(folder, "model/m.onnx", built(entries)), "-o", os.path.join(folder, output),
                *(f.replace("FOLDER", folder) for f in flags)]


def data_unchanged(folder):
    """Whatever became of the model, its data are what they were."""
    with open(os.path.join(folder, "model/w.bin"), "rb") as file:
        return None if file.read() == DATA else "w.bin was changed"


def at(location, **more):
    return [("location", location)] + [(k, str(v)) for k, v in more.items()]


external("B1", "as it should be", 0, "", at("w.bin", offset=0, length=16))
for path in ("../outside.bin", "a/../../outside.bin", "a/..//../outside.bin", "./../outside.bin"):
    external("B1", path, 3, "location", at(path))
for path in ("/etc/passwd", "C:\\w.bin", "\\\\server\\w.bin", ""):
    external("B2", path or "empty", 3, "", at(path))
external("B3", "a symbolic link", 3, "", at("link"), lambda d: os.symlink("../outside.bin", d + "/link"))
external("B4", "a linked directory", 3, "", at("up/outside.bin"), lambda d: os.symlink("..", d + "/up"))
external("B5", "a hard link", 3, "", at("hard"), lambda d: os.link(d + "/../outside.bin", d + "/hard"))
for name, more in (("offset -1", {"offset": -1}), ("offset x", {"offset": "x"}), ("length -1", {"length": -1}),
                   ("offset + length wraps", {"offset": 2**64 - 8, "length": 16}), ("beyond the end", {"offset": 8}),
                   ("a petabyte", {"length": 2**50}), ("length of another shape", {"length": 12}),
                   ("offset 1e3", {"offset": "1e3"})):
    external("B7", name, 3, "\"w\"", at("w.bin", **more))
external("B8", "a pipe", 3, "", at("pipe"), lambda d: os.mkfifo(d + "/pipe"))
external("B8", "a directory", 3, "", at("sub"), lambda d: os.mkdir(d + "/sub"))
external("B8", "a device, by a link", 3, "", at("zero"), lambda d: os.symlink("/dev/zero", d + "/zero"))
external("B9", "a marker of memory", 8, "No such file", at("*/_ORT_MEM_ADDR_/*", offset=140000000000000, length=16))
external("B12", "location twice", 3, "", at("w.bin") + at("w.bin"))
external("B12", "an unknown key", 3, "unknown key \"colour\"", at("w.bin") + [("colour", "red")])
external("B12", "no location", 3, "", [("offset", "0")])
external("B13", "the model itself", 3, "", at("m.onnx"))
external("B7", "a file that is absent", 8, "", at("absent.bin"))
external("B13", "the output", 3, "is what the compilation writes", at("w.bin"), flags=["--force"], output="model/w.bin")
external("B13", "the output by another name", 3, "", at("w.bin"), flags=["--force"], output="link.aicf",
         prepare=lambda d: os.link(d + "/w.bin", d + "/../link.aicf"))

STORE = ["--external-data-dir=FOLDER/store"]
external("B3", "a link into the store", 0, "", at("link"), lambda d: os.symlink("../store/w.bin", d + "/link"), STORE)
external("B3", "a link past the store", 3, "ends outside", at("link"),
         lambda d: os.symlink("../store/../outside.bin", d + "/link"), STORE)
external("B3", "a link in the store that leads out", 3, "ends outside", at("link"),
         lambda d: (os.symlink("../outside.bin", d + "/../store/x"), os.symlink("../store/x", d + "/link")), STORE)
external("B4", "a linked directory of the store", 0, "", at("sub/w.bin"), lambda d: os.symlink("../store", d + "/sub"), STORE)
external("B5", "a hard link in the store", 0, "", at("link"),
         lambda d: (os.link(d + "/../store/w.bin", d + "/../store/v.bin"), os.symlink("../store/v.bin", d + "/link")), STORE)
external("B1", "out of the directory, with a store", 3, "location", at("../store/w.bin"), flags=STORE)
external("B8", "a pipe in the store", 3, "not a regular file", at("link"),
         lambda d: (os.mkfifo(d + "/../store/pipe"), os.symlink("../store/pipe", d + "/link")), STORE)
external("B3", "a link to nowhere, with a store", 8, "No such file", at("link"),
         lambda d: os.symlink("../store/absent", d + "/link"), STORE)
external("B3", "a store that is absent", 8, "No such file", at("link"),
         lambda d: os.symlink("../store/w.bin", d + "/link"), ["--external-data-dir=FOLDER/absent"])
