"""llama.cpp as a peer, through the Python package llama-cpp-python: speed and distributions of one model.

Only llama.cpp's own functions are timed (llama_decode and the wait for it); nothing of the package's Python code is.
"""
import ctypes
import time

import llama_cpp
import numpy as np


class Llama:
    """One model with one context of `context` positions, on `threads` threads. `exact`: keys and values are kept in f32,
    and attention is computed in f32; otherwise llama.cpp's defaults."""

    def __init__(self, model, threads, context=4096, exact=False):
        llama_cpp.llama_backend_init()
        silent = llama_cpp.llama_log_callback(lambda *_: None)
        self._silent = silent  # kept alive: llama.cpp holds its address
        llama_cpp.llama_log_set(silent, ctypes.c_void_p(0))
        self._model = llama_cpp.llama_model_load_from_file(
            str(model).encode(), llama_cpp.llama_model_default_params())
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = context
        params.n_batch = params.n_ubatch = 512
        params.n_threads = params.n_threads_batch = threads
        if exact:
            params.type_k = params.type_v = llama_cpp.GGML_TYPE_F32
            params.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
        self._context = llama_cpp.llama_init_from_model(self._model, params)
        vocabulary = llama_cpp.llama_model_get_vocab(self._model)
        self.vocabulary = llama_cpp.llama_vocab_n_tokens(vocabulary)

    def reset(self):
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self._context), True)

    def decode(self, tokens):
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        batch = llama_cpp.llama_batch_get_one(array, len(tokens))
        if llama_cpp.llama_decode(self._context, batch) != 0:
            raise RuntimeError("llama_decode failed")
        llama_cpp.llama_synchronize(self._context)

    def logits(self):
        """Of the last token that was decoded."""
        pointer = llama_cpp.llama_get_logits_ith(self._context, -1)
        return np.ctypeslib.as_array(pointer, shape=(self.vocabulary,)).astype(np.float64)

    def prompt_rate(self, tokens):
        """Tokens per second of reading this prompt at once."""
        self.reset()
        start = time.perf_counter()
        for first in range(0, len(tokens), 512):
            self.decode(tokens[first:first + 512])
        return len(tokens) / (time.perf_counter() - start)

    def text_rate(self, tokens):
        """Tokens per second of decoding these one after the other."""
        self.reset()
        self.decode(tokens[:1])
        start = time.perf_counter()
        for token in tokens:
            self.decode([token])
        return len(tokens) / (time.perf_counter() - start)
