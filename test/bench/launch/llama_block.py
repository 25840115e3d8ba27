#!/usr/bin/env python3
"""One step of a Llama-3-8B decoder block: one token, grouped heads over a cache of 2048, f16. For prepare.py.

  llama_block.py > llama_block.mlir        linalg, as torch-mlir prints it
  prepare.py llama_block.mlir --bin build/bin --out FOLDER --reference llama_block.py
"""
WIDTH, INNER, HEADS, GROUPS, DIM, CACHE = 4096, 14336, 32, 8, 128, 2048


def shapes():
    linear = [(HEADS * DIM, WIDTH), (WIDTH, HEADS * DIM), (INNER, WIDTH), (INNER, WIDTH), (WIDTH, INNER)]
    return [(1, WIDTH), (WIDTH,), (WIDTH,), (DIM,), (DIM,), (GROUPS, CACHE, DIM), (GROUPS, CACHE, DIM), *linear]


def inputs(torch):
    """The token, gains, angles, the cache, weights of queries, output, gate, up, down."""
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(s, generator=generator).mul(s[1] ** -0.5 if i > 6 else 1).half() for i, s in enumerate(shapes())]


def block(torch, x, before, behind, cos, sin, keys, values, wq, wo, gate, up, down):
    F = torch.nn.functional

    def norm(x, gain):
        y = x.float()
        return (y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * gain

    q = F.linear(norm(x, before), wq).view(HEADS, 1, DIM)
    q = q * cos + torch.cat((-q[..., DIM // 2:], q[..., :DIM // 2]), -1) * sin
    scores = q.view(GROUPS, HEADS // GROUPS, DIM) @ keys.transpose(-1, -2) * DIM ** -0.5
    y = (torch.softmax(scores, -1) @ values).reshape(1, HEADS * DIM)
    x = x + F.linear(y, wo)
    y = norm(x, behind)
    return x + F.linear(F.silu(F.linear(y, gate)) * F.linear(y, up), down)


def reference(torch, *tensors):
    return [block(torch, *tensors)]


def main():
    import torch
    from torch_mlir import fx

    class Block(torch.nn.Module):
        def forward(self, *tensors):
            return block(torch, *tensors)

    exported = torch.export.export(Block(), tuple(torch.zeros(s, dtype=torch.float16) for s in shapes()))
    print(fx.export_and_import(exported, output_type="linalg-on-tensors", func_name="llama_block"))


if __name__ == "__main__":
    main()
