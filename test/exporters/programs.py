"""The programs by name: the type and the shapes of what goes in. programs_torch.py and programs_jax.py have the functions."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    name: str
    dtype: str
    shapes: tuple[tuple[int, ...], ...]


def _program(name, dtype, *shapes):
    return Program(name, dtype, shapes)


_QKV = ((1, 4, 16, 8),) * 3

PROGRAMS = {p.name: p for p in (
    _program("rms_norm_linear", "float16", (8, 32), (32,), (32, 48)),
    _program("layer_norm_linear", "float32", (8, 32), (32,), (32,), (48, 32)),
    _program("mlp_relu", "float16", (8, 32), (64, 32), (64,), (32, 64), (32,)),
    _program("mlp_gelu", "float32", (8, 32), (64, 32), (32, 64)),
    _program("bert_mlp", "bfloat16", (8, 32), (64, 32), (64,), (32, 64), (32,), (32,), (32,)),
    _program("mlp_gelu_tanh", "float16", (8, 32), (64, 32), (32, 64)),
    _program("gated_mlp", "bfloat16", (8, 32), (32, 64), (32, 64), (64, 32)),
    _program("geglu", "float16", (8, 32), (32, 128), (64, 32)),
    _program("squared_relu", "float32", (8, 32), (32, 64), (64, 32)),
    _program("lora", "float16", (8, 32), (32, 48), (32, 8), (8, 48)),
    _program("weight_norm", "float32", (8, 32), (48, 32), (48, 1)),
    _program("softmax", "float32", (16, 64)),
    _program("log_softmax_linear", "float32", (8, 32), (32, 64)),
    _program("cross_entropy", "float32", (8, 32), (32, 64), (8, 64)),
    _program("log_sum_exp", "float32", (8, 32), (32, 64)),
    _program("attention_prefill", "float32", (1, 16, 32), (32, 32), (32, 32), (32, 32), (32, 32)),
    _program("attention_decode", "float16", (1, 4, 1, 8), (1, 4, 16, 8), (1, 4, 16, 8)),
    _program("grouped_decode", "float32", (1, 4, 1, 8), (1, 2, 16, 8), (1, 2, 16, 8)),
    _program("masked_attention", "float32", *_QKV, (1, 1, 16, 16)),
    _program("causal_attention", "float32", *_QKV),
    _program("window_attention", "float16", *_QKV),
    _program("soft_capped_attention", "float32", *_QKV),
    _program("cross_attention", "float32", (1, 8, 32), (1, 16, 32), (32, 32), (32, 64), (32, 32)),
    _program("rotary_tables", "float32", (4, 16, 8), (1, 8)),
    _program("rope", "float32", (1, 4, 16, 8), (16, 8), (16, 8)),
    _program("rope_attention", "float32", *_QKV, (16, 8), (16, 8)),
    _program("group_norm", "float32", (2, 16, 4, 4), (16,), (16,)),
    _program("batch_norm_linear", "float32", (8, 32), (32,), (32,), (32,), (32,), (48, 32)),
    _program("cosine_similarity", "float32", (8, 32), (16, 32)),
    _program("min_max_scale", "float32", (8, 32), (32, 16)),
    _program("squeeze_excite", "float32", (2, 16, 4, 4), (8, 16), (16, 8)),
    _program("linear_attention", "float32", *_QKV),
    _program("mixture", "float32", (8, 16), (16, 4), (4, 16, 32), (4, 32, 16)),
    _program("mse_loss", "float32", (8, 32), (32, 16), (8, 16)),
    _program("mixer_block", "float32", (1, 16, 32), (32,), (16, 32), (32, 16), (32,), (32, 64), (64, 32)),
    _program("llama_block", "float32", (1, 8, 32), (32,), (32, 32), (32, 16), (32, 16), (32, 32), (8, 8), (8, 8), (32,),
             (32, 64), (32, 64), (64, 32)),
    _program("vit_block", "float32", (1, 8, 32), (32,), (32,), (96, 32), (32, 32), (32,), (32,), (64, 32), (32, 64)),
)}
