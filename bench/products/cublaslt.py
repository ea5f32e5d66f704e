"""cuBLASLt through ctypes: the algorithms that its heuristic names for a product, with what it can fuse.

A row-major product out = a b is its transpose out' = b' a' to the library, which counts columns first.
"""
import ctypes

_R_16BF, _R_32F, _COMPUTE_32F = 14, 0, 68
_TRANSA, _TRANSB, _EPILOGUE, _BIAS_POINTER = 3, 4, 7, 8
_BATCH_COUNT, _BATCH_OFFSET, _MAX_WORKSPACE = 5, 6, 1
_EPILOGUES = {(): 1, ("relu",): 2, ("bias",): 4, ("bias", "relu"): 6, ("gelu_tanh",): 32, ("bias", "gelu_tanh"): 36}
_WORKSPACE = 64 << 20


class _Heuristic(ctypes.Structure):
    _fields_ = [("algo", ctypes.c_uint64 * 8), ("workspace", ctypes.c_size_t), ("state", ctypes.c_int),
                ("waves", ctypes.c_float), ("reserved", ctypes.c_int * 4)]


def fused_words(epilogue):
    """The first words of an epilogue that the library applies itself, and whether a residual is among them."""
    words = tuple(w for w in epilogue if w != "residual")
    if "residual" in epilogue and set(words) <= {"bias"}:
        return epilogue
    while words not in _EPILOGUES:
        words = words[:-1]
    return words if "residual" not in epilogue else tuple(w for w in words if w == "bias")


class Library:
    def __init__(self, torch):
        self.torch = torch
        self.lib = ctypes.CDLL("libcublasLt.so.13")
        self.handle = ctypes.c_void_p()
        self._check(self.lib.cublasLtCreate(ctypes.byref(self.handle)))
        self.workspace = torch.empty(_WORKSPACE, dtype=torch.uint8, device="cuda")

    @staticmethod
    def _check(code):
        if code != 0:
            raise RuntimeError(f"cuBLASLt returned {code}")

    def _layout(self, rows, columns, shape):
        layout = ctypes.c_void_p()
        self._check(self.lib.cublasLtMatrixLayoutCreate(ctypes.byref(layout), _R_16BF, ctypes.c_uint64(rows),
                                                        ctypes.c_uint64(columns), ctypes.c_int64(rows)))
        if shape.batch > 1:
            for attribute, value in ((_BATCH_COUNT, ctypes.c_int32(shape.batch)),
                                     (_BATCH_OFFSET, ctypes.c_int64(rows * columns))):
                self._check(self.lib.cublasLtMatrixLayoutSetAttribute(layout, attribute, ctypes.byref(value),
                                                                      ctypes.sizeof(value)))
        return layout

    def _describe(self, shape, fused, bias):
        description = ctypes.c_void_p()
        self._check(self.lib.cublasLtMatmulDescCreate(ctypes.byref(description), _COMPUTE_32F, _R_32F))
        words = tuple(w for w in fused if w != "residual")
        attributes = [(_TRANSA, ctypes.c_int32(shape.weights == "nk")), (_TRANSB, ctypes.c_int32(0)),
                      (_EPILOGUE, ctypes.c_int32(_EPILOGUES[words]))]
        if "bias" in fused:
            attributes.append((_BIAS_POINTER, ctypes.c_uint64(bias.data_ptr())))
        for attribute, value in attributes:
            self._check(self.lib.cublasLtMatmulDescSetAttribute(description, attribute, ctypes.byref(value),
                                                                ctypes.sizeof(value)))
        return description

    def algorithms(self, shape, tensors, out, most=8):
        """Functions without arguments that write the product and the fused words of its epilogue to `out`."""
        fused = fused_words(shape.epilogue)
        description = self._describe(shape, fused, tensors.get("bias"))
        b = (shape.n, shape.k) if shape.weights == "kn" else (shape.k, shape.n)
        layouts = [self._layout(*b, shape), self._layout(shape.k, shape.m, shape), self._layout(shape.n, shape.m, shape)]
        preference = ctypes.c_void_p()
        self._check(self.lib.cublasLtMatmulPreferenceCreate(ctypes.byref(preference)))
        limit = ctypes.c_size_t(_WORKSPACE)
        self._check(self.lib.cublasLtMatmulPreferenceSetAttribute(preference, _MAX_WORKSPACE, ctypes.byref(limit),
                                                                  ctypes.sizeof(limit)))
        found, count = (_Heuristic * most)(), ctypes.c_int(0)
        self._check(self.lib.cublasLtMatmulAlgoGetHeuristic(
            self.handle, description, layouts[0], layouts[1], layouts[2], layouts[2], preference, most, found,
            ctypes.byref(count)))
        source = tensors["residual"] if "residual" in fused else out
        one, beta = ctypes.c_float(1), ctypes.c_float(1 if "residual" in fused else 0)

        def run(algorithm):
            stream = ctypes.c_void_p(self.torch.cuda.current_stream().cuda_stream)
            pointers = [ctypes.c_void_p(t.data_ptr()) for t in (tensors["b"], tensors["a"], source, out)]
            self._check(self.lib.cublasLtMatmul(
                self.handle, description, ctypes.byref(one), pointers[0], layouts[0], pointers[1], layouts[1],
                ctypes.byref(beta), pointers[2], layouts[2], pointers[3], layouts[2], ctypes.byref(algorithm.algo),
                ctypes.c_void_p(self.workspace.data_ptr()), ctypes.c_size_t(_WORKSPACE), stream))

        return [lambda a=found[i]: run(a) for i in range(count.value)]
