"""The programs in PyTorch: what people write, at a reduced size. Each is a class whose forward is exported; `PROGRAMS` has an
instance and its inputs' shapes by name. Weights are inputs, so that nothing is folded away."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def heads(x, count):
    """[batch, length, width] as [batch, heads, length, width / heads]."""
    batch, length, width = x.shape
    return x.view(batch, length, count, width // count).transpose(1, 2)


def merge(x):
    """heads, back."""
    batch, count, length, width = x.shape
    return x.transpose(1, 2).reshape(batch, length, count * width)


def rms_norm(x, g, eps=1e-5):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)).to(x.dtype) * g


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


def attend(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + mask
    return torch.softmax(scores, -1) @ v


def rms_norm_linear(x, g, w):
    return rms_norm(x, g) @ w


def layer_norm_linear(x, g, b, w):
    return F.linear(F.layer_norm(x, x.shape[-1:], g, b), w)


def mlp_relu(x, w1, b1, w2, b2):
    return F.linear(F.relu(F.linear(x, w1, b1)), w2, b2)


def mlp_gelu(x, w1, w2):
    return F.linear(F.gelu(F.linear(x, w1)), w2)


def bert_mlp(x, w1, b1, w2, b2, g, b):
    return F.layer_norm(x + F.linear(F.gelu(F.linear(x, w1, b1)), w2, b2), x.shape[-1:], g, b)


def mlp_gelu_tanh(x, w1, w2):
    return F.linear(F.gelu(F.linear(x, w1), approximate="tanh"), w2)


def gated_mlp(x, gate, up, down):
    return (F.silu(x @ gate) * (x @ up)) @ down


def geglu(x, both, down):
    a, b = (x @ both).chunk(2, -1)
    return (F.gelu(a, approximate="tanh") * b) @ down


def squared_relu(x, w1, w2):
    return F.relu(x @ w1).square() @ w2


def lora(x, w, a, b):
    return x @ w + 0.5 * ((x @ a) @ b)


def weight_norm(x, v, g):
    return F.linear(x, g * v / v.norm(dim=1, keepdim=True))


def softmax(x):
    return torch.softmax(x, -1)


def log_softmax_linear(x, w):
    return F.log_softmax(x @ w, -1)


def cross_entropy(x, w, target):
    return F.cross_entropy(x @ w, target)


def log_sum_exp(x, w):
    return torch.logsumexp(x @ w, -1)


def attention_prefill(x, wq, wk, wv, wo):
    q, k, v = heads(x @ wq, 4), heads(x @ wk, 4), heads(x @ wv, 4)
    return merge(F.scaled_dot_product_attention(q, k, v)) @ wo


def attention_decode(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def grouped_decode(q, k, v):
    k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
    return attend(q, k, v)


def masked_attention(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def causal_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def window_attention(q, k, v):
    query, key = torch.arange(q.shape[-2])[:, None], torch.arange(k.shape[-2])[None]
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    return torch.softmax(scores.masked_fill((key > query) | (key <= query - 4), -math.inf), -1) @ v


def rotary_tables(x, frequency):
    angle = torch.arange(x.shape[-2], dtype=x.dtype)[:, None] * frequency
    return x * angle.cos() + x * angle.sin()


def soft_capped_attention(q, k, v):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    return torch.softmax(20 * torch.tanh(scores / 20), -1) @ v


def cross_attention(x, memory, wq, wkv, wo):
    k, v = (memory @ wkv).split(32, -1)
    return merge(attend(heads(x @ wq, 4), heads(k, 4), heads(v, 4))) @ wo


def rope(x, cos, sin):
    return rotate(x, cos, sin)


def rope_attention(q, k, v, cos, sin):
    return F.scaled_dot_product_attention(rotate(q, cos, sin), rotate(k, cos, sin), v)


def group_norm(x, g, b):
    return F.silu(F.group_norm(x, 4, g, b))


def batch_norm_linear(x, mean, var, g, b, w):
    return F.linear(F.batch_norm(x, mean, var, g, b), w)


def cosine_similarity(x, y):
    return F.normalize(x, dim=-1) @ F.normalize(y, dim=-1).T


def min_max_scale(x, w):
    low, high = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    return ((x - low) / (high - low + 1e-3)) @ w


def squeeze_excite(x, w1, w2):
    gate = torch.sigmoid(F.linear(F.relu(F.linear(x.mean((2, 3)), w1)), w2))
    return x * gate[:, :, None, None]


def linear_attention(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    return (q @ (k.transpose(-1, -2) @ v)) / (q * k.sum(-2, keepdim=True)).sum(-1, keepdim=True)


def mixture(x, router, w1, w2):
    gates = torch.softmax(x @ router, -1)
    return torch.einsum("te,etd->td", gates, F.silu(torch.einsum("td,edf->etf", x, w1)) @ w2)


def mse_loss(x, w, y):
    return F.mse_loss(x @ w, y)


def mixer_block(x, g1, t1, t2, g2, c1, c2):
    y = rms_norm(x, g1).transpose(1, 2)
    x = x + (F.gelu(y @ t1, approximate="tanh") @ t2).transpose(1, 2)
    return x + F.gelu(rms_norm(x, g2) @ c1, approximate="tanh") @ c2


def llama_block(x, g1, wq, wk, wv, wo, cos, sin, g2, gate, up, down):
    y = rms_norm(x, g1)
    q, k, v = heads(y @ wq, 4), heads(y @ wk, 2), heads(y @ wv, 2)
    q, k = rotate(q, cos, sin), rotate(k, cos, sin)
    k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
    x = x + merge(F.scaled_dot_product_attention(q, k, v)) @ wo
    return x + gated_mlp(rms_norm(x, g2), gate, up, down)


def vit_block(x, g1, b1, wqkv, wo, g2, b2, w1, w2):
    width = x.shape[-1:]
    q, k, v = (heads(t, 4) for t in F.linear(F.layer_norm(x, width, g1, b1), wqkv).chunk(3, -1))
    x = x + F.linear(merge(F.scaled_dot_product_attention(q, k, v)), wo)
    return x + F.linear(F.gelu(F.linear(F.layer_norm(x, width, g2, b2), w1)), w2)


class Program(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)
