"""One block of a latent diffusion U-Net, in plain PyTorch: the shapes of Stable Diffusion 1.5's first level."""

import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    def __init__(self, size, context, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(size, size, bias=False)
        self.key = nn.Linear(context, size, bias=False)
        self.value = nn.Linear(context, size, bias=False)
        self.out = nn.Linear(size, size)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, context):
        q, k, v = self.split(self.query(x)), self.split(self.key(context)), self.split(self.value(context))
        y = functional.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).flatten(2))


class GatedFeedForward(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.wide = nn.Linear(size, 8 * size)
        self.narrow = nn.Linear(4 * size, size)

    def forward(self, x):
        x, gate = self.wide(x).chunk(2, dim=-1)
        return self.narrow(x * functional.gelu(gate))


class Transformer(nn.Module):
    def __init__(self, channels, context, heads):
        super().__init__()
        self.norm = nn.GroupNorm(32, channels, eps=1e-6)
        self.enter = nn.Conv2d(channels, channels, 1)
        self.norms = nn.ModuleList(nn.LayerNorm(channels) for _ in range(3))
        self.own = Attention(channels, channels, heads)
        self.cross = Attention(channels, context, heads)
        self.feed = GatedFeedForward(channels)
        self.leave = nn.Conv2d(channels, channels, 1)

    def forward(self, x, context):
        shape = x.shape[-2:]
        y = self.enter(self.norm(x)).flatten(2).transpose(1, 2)
        normed = self.norms[0](y)
        y = y + self.own(normed, normed)
        y = y + self.cross(self.norms[1](y), context)
        y = y + self.feed(self.norms[2](y))
        return x + self.leave(y.transpose(1, 2).unflatten(2, shape))


class Residual(nn.Module):
    def __init__(self, channels, time):
        super().__init__()
        self.first_norm = nn.GroupNorm(32, channels)
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.shift = nn.Linear(time, channels)
        self.second_norm = nn.GroupNorm(32, channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x, time):
        y = self.first(functional.silu(self.first_norm(x)))
        y = y + self.shift(functional.silu(time))[:, :, None, None]
        return x + self.second(functional.silu(self.second_norm(y)))


class Block(nn.Module):
    def __init__(self, channels, time, context, heads):
        super().__init__()
        self.residual = Residual(channels, time)
        self.transformer = Transformer(channels, context, heads)

    def forward(self, latent, time, words):
        return (self.transformer(self.residual(latent, time), words),)
