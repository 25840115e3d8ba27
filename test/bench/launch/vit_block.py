#!/usr/bin/env python3
"""An encoder block of ViT-B/16: 197 tokens, 12 heads, f16. For prepare.py.

  vit_block.py > vit_block.mlir        linalg, as torch-mlir prints it
  prepare.py vit_block.mlir --bin build/bin --out FOLDER --reference vit_block.py
"""
TOKENS, WIDTH, HEADS, INNER = 197, 768, 12, 3072


def shapes():
    matrices = [(3 * WIDTH, WIDTH), (WIDTH, WIDTH), (INNER, WIDTH), (WIDTH, INNER)]
    return [(TOKENS, WIDTH), (WIDTH,), (WIDTH,), (WIDTH,), (WIDTH,), (3 * WIDTH,), (WIDTH,), (INNER,), (WIDTH,), *matrices]


def inputs(torch):
    """The tokens, gains and biases of both norms, biases and weights of queries with keys and values, output, up, down."""
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(s, generator=generator).mul(s[1] ** -0.5 if i > 8 else 1).half() for i, s in enumerate(shapes())]


def block(torch, x, g1, b1, g2, b2, bias_qkv, bias_out, bias_up, bias_down, qkv, out, up, down):
    F = torch.nn.functional
    q, k, v = F.linear(F.layer_norm(x, (WIDTH,), g1, b1), qkv, bias_qkv).view(TOKENS, 3, HEADS, WIDTH // HEADS).permute(1, 2, 0, 3)
    scores = q @ k.transpose(-1, -2) * (WIDTH // HEADS) ** -0.5
    y = (torch.softmax(scores, -1) @ v).transpose(0, 1).reshape(TOKENS, WIDTH)
    x = x + F.linear(y, out, bias_out)
    return x + F.linear(F.gelu(F.linear(F.layer_norm(x, (WIDTH,), g2, b2), up, bias_up)), down, bias_down)


def reference(torch, *tensors):
    return [block(torch, *tensors)]


def main():
    import torch
    from torch_mlir import fx

    class Block(torch.nn.Module):
        def forward(self, *tensors):
            return block(torch, *tensors)

    exported = torch.export.export(Block(), tuple(torch.zeros(s, dtype=torch.float16) for s in shapes()))
    print(fx.export_and_import(exported, output_type="linalg-on-tensors", func_name="vit_block"))


if __name__ == "__main__":
    main()
