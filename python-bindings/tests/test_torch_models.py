"""Language and speech models of the transformers library, tiny and random, through the backend on the CPU.

Logits are as near to float64 as PyTorch's own; what stays outside is named in full, so that a part which is lost shows.
"""

import pytest
import torch

import mirage_mlir as mi
from mirage_mlir import _torch_backend

transformers = pytest.importorskip("transformers")

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not hasattr(transformers, "Qwen3Config"), reason="transformers is too old for Qwen3"),
]

QUICK = {"force": True, "fallback": "eager", "max_states": 50, "time_budget": 0.0, "num_threads": 1, "measure": "no"}
COMMON = dict(
    vocab_size=64,
    hidden_size=32,
    intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=64,
)


def llama():
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**COMMON))


def qwen3():
    return transformers.Qwen3ForCausalLM(transformers.Qwen3Config(head_dim=8, **COMMON))


def gpt2():
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(vocab_size=64, n_positions=64, n_embd=32, n_layer=2, n_head=4)
    )


def t5():
    return transformers.T5ForConditionalGeneration(
        transformers.T5Config(
            vocab_size=64, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, decoder_start_token_id=0
        )
    )


def whisper():
    return transformers.WhisperForConditionalGeneration(
        transformers.WhisperConfig(
            vocab_size=64,
            d_model=32,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=48,
            decoder_ffn_dim=48,
            num_mel_bins=8,
            max_source_positions=16,
            max_target_positions=32,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=1,
        )
    )


def tokens(count):
    return torch.randint(3, 64, (1, count))


# Operators that the dialect has no words for: tables, arithmetic on positions, convolutions. Of a dense layer nothing.
OUTSIDE = {
    llama: {"embedding"},
    qwen3: {"embedding"},
    gpt2: {"embedding", "view"},
    t5: {"embedding", "add", "lt", "float", "to", "full_like", "min", "where", "mul", "abs", "iadd", "neg"},
    whisper: {"embedding", "repeat", "getitem", "conv1d"},
}
PARTS = {llama: 5, qwen3: 6, gpt2: 2, t5: 11, whisper: 4}
REASONS = (
    "no such operator",
    "int64",
    "writes to its operand",
    "positions 0 + [-1, 1] times the indices",
    "arithmetic on a mask",
)


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)
    mi.replaced().clear()
    _torch_backend._said.clear()
    with torch.no_grad():
        yield


def arguments(make):
    if make is t5:
        return {"input_ids": tokens(8), "decoder_input_ids": tokens(5)}
    if make is whisper:
        return {"input_features": torch.randn(1, 8, 32), "decoder_input_ids": tokens(5)}
    return {"input_ids": tokens(8)}


def error(logits, exact):
    return float((logits.double() - exact).norm() / exact.norm())


@pytest.mark.parametrize("make", [llama, qwen3, gpt2, t5, whisper])
def test_logits_are_eagers(make):
    dtype = torch.bfloat16 if make in (llama, qwen3) else torch.float32
    model, given = make().eval().to(dtype), arguments(make)
    compiled = torch.compile(model, backend="mirage", options=QUICK)
    eager, first, second = model(**given).logits, compiled(**given).logits, compiled(**given).logits
    table = mi.replaced()
    exact = model.double()(**{k: v.double() if v.is_floating_point() else v for k, v in given.items()}).logits
    assert torch.equal(first, eager)
    assert error(second, exact) <= 1.5 * error(eager, exact)
    assert (len(table.parts), sum(p.kept for p in table.parts)) == (PARTS[make], PARTS[make]), str(table)
    assert {op for op, _ in table.reasons()} == OUTSIDE[make], str(table)
    assert {reason for _, reason in table.reasons()} <= set(REASONS), str(table)


def test_layers_of_a_deeper_model_are_searched_once():
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**{**COMMON, "num_hidden_layers": 5})).eval()
    compiled = torch.compile(model, backend="mirage", options={**QUICK, "max_states": 51})
    given = arguments(llama)
    expected = model(**given).logits
    for _ in range(2):
        torch.testing.assert_close(compiled(**given).logits, expected, rtol=1e-4, atol=1e-5)
    table = mi.replaced()
    assert len(table.parts) == 11 and table.searches == 5, str(table)  # the first and the last, two kinds between them, the tables


def test_decoding_with_a_static_cache():
    """Tokens one by one through a cache that each step writes to, as eager decoding gives them."""
    model = llama().eval()
    compiled = torch.compile(model, backend="mirage", options=QUICK)

    def decode(f):
        cache = transformers.StaticCache(config=model.config, max_cache_len=16)
        token, logits = tokens(1), []
        for position in range(4):
            out = f(input_ids=token, past_key_values=cache, cache_position=torch.tensor([position]), use_cache=True)
            logits.append(out.logits)
            token = out.logits[:, -1].argmax(-1, keepdim=True)
        return torch.cat(logits, 1)

    torch.manual_seed(1)
    expected = decode(model)
    torch.manual_seed(1)
    torch.testing.assert_close(decode(compiled), expected, rtol=1e-4, atol=1e-5)
    reasons = mi.replaced().reasons()
    assert ("index_copy_", "writes to its operand") in reasons, str(mi.replaced())
    assert all(p.kept for p in mi.replaced().parts)
