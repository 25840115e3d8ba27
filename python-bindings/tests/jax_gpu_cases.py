"""mirage_mlir.jax on a GPU: cases for test_gpu.py, and a script for a machine without pytest.

python jax_gpu_cases.py [CASE ...]      runs all, or those named; status 1 if one fails

Errors are against float64 of NumPy, XLA's beside ours.
"""

import os
import sys
import time
import traceback

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import mirage_mlir.jax as mj  # noqa: E402

OPTIONS = {"progress": False, "time_budget": 5.0}


def data(*shape, dtype=jnp.bfloat16, scale=1.0, seed=0):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape) * scale, dtype)


def rms_linear(x, gain, w):
    y = x.astype(jnp.float32)
    y = (y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5)).astype(x.dtype) * gain
    return y @ w


def exact_rms_linear(x, gain, w):
    x, gain, w = (np.asarray(a, np.float64) for a in (x, gain, w))
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * gain @ w


def attention(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32) / q.shape[-1] ** 0.5
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores).astype(v.dtype), v)


def exact_attention(q, k, v):
    q, k, v = (np.asarray(a, np.float64) for a in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def error(got, exact):
    return np.linalg.norm(np.asarray(got, np.float64) - exact) / np.linalg.norm(exact)


def check(f, exact, args):
    """jit(f) is ours and as near to float64 as XLA's f is, half as much again; the microseconds of a call of both."""
    compiled, own = mj.jit(f, **OPTIONS), jax.jit(f)
    assert "mirage_mlir" in compiled.lower(*args).as_text(), "left to JAX"
    true = exact(*args)
    mine, theirs = error(compiled(*args), true), error(own(*args), true)
    assert mine <= 1.5 * theirs + 1e-6, f"error {mine:.2e}, XLA's {theirs:.2e}"
    print(f"    error {mine:.2e}, XLA's {theirs:.2e}; {wall_us(compiled, args):.1f} us a call, XLA's {wall_us(own, args):.1f}")
    return compiled


def wall_us(function, args, calls=200):
    """Wall clock of a call among many, which XLA enqueues one behind the other."""
    jax.block_until_ready(function(*args))
    begin = time.perf_counter()
    for _ in range(calls):
        result = function(*args)
    jax.block_until_ready(result)
    return 1e6 * (time.perf_counter() - begin) / calls


def case_rmsnorm_and_linear():
    for dtype in (jnp.float16, jnp.bfloat16):
        args = data(2, 4096, dtype=dtype), data(4096, dtype=dtype, seed=1), data(4096, 6144, dtype=dtype, scale=1 / 64, seed=2)
        check(rms_linear, exact_rms_linear, args)


def case_attention():
    check(attention, exact_attention, (data(1, 8, 16, 64), data(1, 8, 1024, 64, seed=1), data(1, 8, 1024, 64, seed=2)))


def case_inside_a_jitted_function_and_a_loop():
    """XLA may capture what surrounds the call in a CUDA graph of its own, and calls it on a stream of its own."""
    ours = mj.jit(rms_linear, **OPTIONS)
    x, gain, w = data(4, 1024), data(1024, seed=1), data(1024, 1024, scale=1 / 32, seed=2)

    def steps(f, x):
        return jax.lax.fori_loop(0, 20, lambda _, y: jnp.sin(f(y, gain, w)), x)

    got, own = jax.jit(lambda x: steps(ours, x))(x), jax.jit(lambda x: steps(rms_linear, x))(x)
    first = jax.jit(lambda x: steps(ours, x))
    np.testing.assert_array_equal(np.asarray(first(x), np.float32), np.asarray(got, np.float32))
    assert error(got, np.asarray(own, np.float64)) < 0.1  # twenty roundings of bfloat16 apart


def case_values_change_from_call_to_call():
    compiled = mj.jit(rms_linear, **OPTIONS)
    gain, w = data(512, seed=1), data(512, 256, scale=1 / 22, seed=2)
    for seed in range(5):
        x = data(3, 512, seed=seed)
        assert error(compiled(x, gain, w), exact_rms_linear(x, gain, w)) < 1e-2


def case_memory_stays_as_it_is():
    compiled = mj.jit(rms_linear, **OPTIONS)
    args = data(2, 512), data(512, seed=1), data(512, 512, scale=1 / 22, seed=2)
    jax.block_until_ready(compiled(*args))
    before = jax.local_devices()[0].memory_stats()["bytes_in_use"]
    for _ in range(10_000):
        result = compiled(*args)
    jax.block_until_ready(result)
    after = jax.local_devices()[0].memory_stats()["bytes_in_use"]
    assert after <= before + result.nbytes, (before, after)


CASES = {name.removeprefix("case_"): f for name, f in dict(globals()).items() if name.startswith("case_")}


def main() -> int:
    failed = []
    print("jax", jax.__version__, jax.local_devices())
    for name in sys.argv[1:] or CASES:
        begin = time.perf_counter()
        try:
            CASES[name]()
        except Exception:
            failed.append(name)
            traceback.print_exc()
        print(f"{'FAILED' if name in failed else 'passed'} {name} ({time.perf_counter() - begin:.1f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
