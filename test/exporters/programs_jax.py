"""The same programs in JAX, as people write them there."""

import jax
import jax.numpy as jnp


def heads(x, count):
    batch, length, width = x.shape
    return x.reshape(batch, length, count, width // count).transpose(0, 2, 1, 3)


def merge(x):
    batch, count, length, width = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, length, count * width)


def rms_norm(x, g, eps=1e-5):
    wide = x.astype(jnp.float32)
    return (wide * jax.lax.rsqrt(jnp.mean(wide**2, -1, keepdims=True) + eps)).astype(x.dtype) * g


def layer_norm(x, g, b, eps=1e-5):
    return jax.nn.standardize(x, epsilon=eps) * g + b


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + jnp.concatenate((-x[..., half:], x[..., :half]), -1) * sin


def attend(q, k, v, mask=None):
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + mask
    return jax.nn.softmax(scores) @ v


def rms_norm_linear(x, g, w):
    return rms_norm(x, g) @ w


def layer_norm_linear(x, g, b, w):
    return layer_norm(x, g, b) @ w.T


def mlp_relu(x, w1, b1, w2, b2):
    return jax.nn.relu(x @ w1.T + b1) @ w2.T + b2


def mlp_gelu(x, w1, w2):
    return jax.nn.gelu(x @ w1.T, approximate=False) @ w2.T


def bert_mlp(x, w1, b1, w2, b2, g, b):
    return layer_norm(x + jax.nn.gelu(x @ w1.T + b1, approximate=False) @ w2.T + b2, g, b)


def mlp_gelu_tanh(x, w1, w2):
    return jax.nn.gelu(x @ w1.T) @ w2.T


def gated_mlp(x, gate, up, down):
    return (jax.nn.silu(x @ gate) * (x @ up)) @ down


def geglu(x, both, down):
    a, b = jnp.split(x @ both, 2, -1)
    return (jax.nn.gelu(a) * b) @ down


def squared_relu(x, w1, w2):
    return jnp.square(jax.nn.relu(x @ w1)) @ w2


def lora(x, w, a, b):
    return x @ w + 0.5 * ((x @ a) @ b)


def weight_norm(x, v, g):
    return x @ (g * v / jnp.linalg.norm(v, axis=1, keepdims=True)).T


def softmax(x):
    return jax.nn.softmax(x)


def log_softmax_linear(x, w):
    return jax.nn.log_softmax(x @ w)


def cross_entropy(x, w, target):
    return -jnp.mean(jnp.sum(target * jax.nn.log_softmax(x @ w), -1))


def log_sum_exp(x, w):
    return jax.nn.logsumexp(x @ w, -1)


def attention_prefill(x, wq, wk, wv, wo):
    return merge(attend(heads(x @ wq, 4), heads(x @ wk, 4), heads(x @ wv, 4))) @ wo


def attention_decode(q, k, v):
    weights = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5)
    return jnp.einsum("bhqk,bhkd->bhqd", weights, v)


def grouped_decode(q, k, v):
    return attend(q, jnp.repeat(k, 2, 1), jnp.repeat(v, 2, 1))


def masked_attention(q, k, v, mask):
    return attend(q, k, v, mask)


def causal_attention(q, k, v):
    query, key = jnp.arange(q.shape[-2])[:, None], jnp.arange(k.shape[-2])[None]
    scores = q @ jnp.swapaxes(k, -1, -2) * q.shape[-1] ** -0.5
    return jax.nn.softmax(jnp.where(key <= query, scores, -jnp.inf), -1) @ v


def window_attention(q, k, v):
    query, key = jnp.arange(q.shape[-2])[:, None], jnp.arange(k.shape[-2])[None]
    scores = q @ jnp.swapaxes(k, -1, -2) * q.shape[-1] ** -0.5
    return jax.nn.softmax(jnp.where((key <= query) & (key > query - 4), scores, -jnp.inf), -1) @ v


def rotary_tables(x, frequency):
    angle = jnp.arange(x.shape[-2], dtype=x.dtype)[:, None] * frequency
    return x * jnp.cos(angle) + x * jnp.sin(angle)


def soft_capped_attention(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(20 * jnp.tanh(scores / 20)), v)


def cross_attention(x, memory, wq, wkv, wo):
    k, v = jnp.split(memory @ wkv, 2, -1)
    return merge(attend(heads(x @ wq, 4), heads(k, 4), heads(v, 4))) @ wo


def rope(x, cos, sin):
    return rotate(x, cos, sin)


def rope_attention(q, k, v, cos, sin):
    return attend(rotate(q, cos, sin), rotate(k, cos, sin), v)


def group_norm(x, g, b):
    batch, channels, *rest = x.shape
    y = jax.nn.standardize(x.reshape(batch, 4, -1), epsilon=1e-5).reshape(x.shape)
    return jax.nn.silu(y * g[:, None, None] + b[:, None, None])


def batch_norm_linear(x, mean, var, g, b, w):
    return ((x - mean) * jax.lax.rsqrt(var + 1e-5) * g + b) @ w.T


def cosine_similarity(x, y):
    def normal(x):
        return x / jnp.maximum(jnp.linalg.norm(x, axis=-1, keepdims=True), 1e-12)
    return normal(x) @ normal(y).T


def min_max_scale(x, w):
    low, high = x.min(-1, keepdims=True), x.max(-1, keepdims=True)
    return ((x - low) / (high - low + 1e-3)) @ w


def squeeze_excite(x, w1, w2):
    gate = jax.nn.sigmoid(jax.nn.relu(x.mean((2, 3)) @ w1.T) @ w2.T)
    return x * gate[:, :, None, None]


def linear_attention(q, k, v):
    q, k = jax.nn.elu(q) + 1, jax.nn.elu(k) + 1
    return (q @ (k.swapaxes(-1, -2) @ v)) / (q * k.sum(-2, keepdims=True)).sum(-1, keepdims=True)


def mixture(x, router, w1, w2):
    gates = jax.nn.softmax(x @ router)
    return jnp.einsum("te,etd->td", gates, jax.nn.silu(jnp.einsum("td,edf->etf", x, w1)) @ w2)


def mse_loss(x, w, y):
    return jnp.mean((x @ w - y) ** 2)


def mixer_block(x, g1, t1, t2, g2, c1, c2):
    y = rms_norm(x, g1).swapaxes(1, 2)
    x = x + (jax.nn.gelu(y @ t1) @ t2).swapaxes(1, 2)
    return x + jax.nn.gelu(rms_norm(x, g2) @ c1) @ c2


def llama_block(x, g1, wq, wk, wv, wo, cos, sin, g2, gate, up, down):
    y = rms_norm(x, g1)
    q, k, v = heads(y @ wq, 4), heads(y @ wk, 2), heads(y @ wv, 2)
    q, k = rotate(q, cos, sin), rotate(k, cos, sin)
    x = x + merge(attend(q, jnp.repeat(k, 2, 1), jnp.repeat(v, 2, 1))) @ wo
    return x + gated_mlp(rms_norm(x, g2), gate, up, down)


def vit_block(x, g1, b1, wqkv, wo, g2, b2, w1, w2):
    q, k, v = (heads(t, 4) for t in jnp.split(layer_norm(x, g1, b1) @ wqkv.T, 3, -1))
    x = x + merge(attend(q, k, v)) @ wo.T
    return x + jax.nn.gelu(layer_norm(x, g2, b2) @ w1.T, approximate=False) @ w2.T
