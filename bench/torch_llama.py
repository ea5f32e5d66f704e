"""A Llama-shaped model in PyTorch with random bf16 weights, for compare_llama.py, which starts this as a process:

    torch_llama.py NAME [--batch 1,32] [--context 1024] [--prompt 2048] [--mode reduce-overhead]

Decode: one token for each request behind --context others in a contiguous cache, greedy, compiled by torch.compile
with CUDA graphs; a step begins when the one before it has given its token, and nothing waits for the device in
between. Prefill: --prompt tokens in one call with cuDNN's attention, compiled likewise. Prints one line of JSON for
each, with medians in us of three rounds.
"""
import argparse
import json
import statistics
import time

import torch
import torch.nn.functional as F
from llama_shapes import SHAPES
from torch.nn.attention import SDPBackend, sdpa_kernel

DECODES, PREFILLS, ROUNDS = 128, 10, 3
EPSILON = 1e-5


def norm(x, gain):
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + EPSILON)).to(x.dtype) * gain


def rotate(x, cos, sin):
    first, second = x.float().chunk(2, -1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1).to(x.dtype)


class Layer(torch.nn.Module):
    def __init__(self, shape, batch, positions):
        super().__init__()
        s = self.shape = shape
        kv = s.key_heads * s.head_size
        self.before, self.between = random(s.hidden), random(s.hidden)
        self.qkv, self.out = random(s.heads * s.head_size + 2 * kv, s.hidden), random(s.hidden, s.heads * s.head_size)
        self.gate_up, self.down = random(2 * s.feed_forward, s.hidden), random(s.hidden, s.feed_forward)
        cache = torch.zeros(2, batch, s.key_heads, positions, s.head_size, device="cuda", dtype=torch.bfloat16)
        self.register_buffer("cache", cache)

    def attention(self, q, k, v, at, mask):
        if mask is None:  # a prompt: nothing before it
            return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        self.cache[0].index_copy_(2, at, k)
        self.cache[1].index_copy_(2, at, v)
        return F.scaled_dot_product_attention(q, self.cache[0], self.cache[1], attn_mask=mask, enable_gqa=True)

    def forward(self, x, cos, sin, at, mask):
        s, (batch, count, _) = self.shape, x.shape
        kv = s.key_heads * s.head_size
        q, k, v = F.linear(norm(x, self.before), self.qkv).split([s.heads * s.head_size, kv, kv], -1)
        q, k, v = (t.view(batch, count, -1, s.head_size).transpose(1, 2) for t in (q, k, v))
        y = self.attention(rotate(q, cos, sin), rotate(k, cos, sin), v, at, mask)
        x = x + F.linear(y.transpose(1, 2).reshape(batch, count, -1), self.out)
        gate, up = F.linear(norm(x, self.between), self.gate_up).chunk(2, -1)
        return x + F.linear(F.silu(gate) * up, self.down)


def random(*size):
    return torch.nn.Parameter(0.02 * torch.randn(*size, device="cuda", dtype=torch.bfloat16), requires_grad=False)


class Llama(torch.nn.Module):
    def __init__(self, shape, batch, positions):
        super().__init__()
        self.table, self.final = random(shape.vocabulary, shape.hidden), random(shape.hidden)
        self.head = self.table if shape.tied else random(shape.vocabulary, shape.hidden)
        self.layers = torch.nn.ModuleList(Layer(shape, batch, positions) for _ in range(shape.layers))
        powers = torch.arange(0, shape.head_size, 2, device="cuda") / shape.head_size
        angles = torch.outer(torch.arange(positions, device="cuda"), 500000.0 ** -powers)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())
        self.register_buffer("at_most", torch.arange(positions, device="cuda"))

    def forward(self, tokens, at, prompt: bool):
        """The most likely next tokens; `at` are the positions of `tokens`."""
        x = F.embedding(tokens, self.table)
        mask = None if prompt else self.at_most[None, None, None, :] <= at[:, None]
        for layer in self.layers:
            x = layer(x, self.cos[at], self.sin[at], at, mask)
        return F.linear(norm(x[:, -1:], self.final), self.head)[:, -1].argmax(-1, keepdim=True)


def median_us(round_of, calls):
    """Of rounds of `calls` calls each; what one call takes."""
    times = []
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        round_of()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) / calls * 1e6)
    return statistics.median(times)


def decode(shape, batch, context, mode):
    model = Llama(shape, batch, context + DECODES + 16)
    step = torch.compile(lambda tokens, at: model(tokens, at, False), mode=mode, fullgraph=True)
    start = torch.randint(0, shape.vocabulary, (batch, 1), device="cuda")

    def text(count):
        tokens, at = start, torch.tensor([context], device="cuda")
        for _ in range(count):
            tokens = step(tokens, at).clone()
            at = at + 1

    text(8)
    return median_us(lambda: text(DECODES), DECODES)


def prefill(shape, prompt, mode):
    model = Llama(shape, 1, prompt)
    at = torch.arange(prompt, device="cuda")
    call = torch.compile(lambda tokens: model(tokens, at, True), mode=mode, fullgraph=True)
    tokens = torch.randint(0, shape.vocabulary, (1, prompt), device="cuda")
    with sdpa_kernel([SDPBackend.CUDNN_ATTENTION]):
        for _ in range(4):
            call(tokens)
        return median_us(lambda: [call(tokens) for _ in range(PREFILLS)], PREFILLS)


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=SHAPES)
    parser.add_argument("--batch", default="1")
    parser.add_argument("--context", type=int, default=1024)
    parser.add_argument("--prompt", type=int, default=0, help="0: no prefill")
    parser.add_argument("--mode", default="reduce-overhead")
    args = parser.parse_args()
    shape = SHAPES[args.name]
    for batch in map(int, filter(None, args.batch.split(","))):
        us = decode(shape, batch, args.context, args.mode)
        print(json.dumps({"decode": batch, "context": args.context, "us": us}), flush=True)
        torch._dynamo.reset()
        torch.cuda.empty_cache()
    if args.prompt > 0:
        us = prefill(shape, args.prompt, args.mode)
        print(json.dumps({"prefill": args.prompt, "us": us}), flush=True)


if __name__ == "__main__":
    main()
