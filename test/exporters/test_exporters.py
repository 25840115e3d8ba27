"""Every program by every road: exported, cut out, superoptimized, lowered, run on the emulator, judged by float64.

MIRAGE_EXPORTERS_ROAD=torch-linalg (or another of export.ROADS) runs that road alone; ctest has an entry for each.
"""

import os
import warnings

import pytest

for package in ("torch", "torch_mlir", "jax", "iree.compiler", "ml_dtypes"):
    pytest.importorskip(package, reason=f"{package} cannot be had here: test/exporters/requirements.txt", exc_type=ImportError)

import export  # noqa: E402
import inputs  # noqa: E402
import share  # noqa: E402
import stages  # noqa: E402
import table  # noqa: E402
from programs import PROGRAMS  # noqa: E402

LEAST_SHARE = 0.9
# torch-mlir writes the factor of the tanh form of GELU, sqrt(2 / pi) = 0.797885, as 0.797724.
GELU_TANH = {("torch-linalg", name): 1e-4 for name in ("mixer_block", "mlp_gelu_tanh", "geglu")}

ROADS = [os.environ["MIRAGE_EXPORTERS_ROAD"]] if "MIRAGE_EXPORTERS_ROAD" in os.environ else export.ROADS
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::RuntimeWarning")


@pytest.fixture(scope="module")
def converted():
    """What is known of each program that has been exported: (its text, what it became, remarks)."""
    known = {}

    def find(road, name):
        if (road, name) not in known:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                text = export.export(road, name)
            known[road, name] = (text, *stages.convert(road, text))
        return known[road, name]

    return find


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("road", ROADS)
def test_program(road, name, converted):
    program = PROGRAMS[name]
    text, module, _ = converted(road, name)
    assert share.share(stages.as_linalg(road, text), module) >= LEAST_SHARE
    tensors = inputs.draw(program)
    result, = stages.execute(module, inputs.arrays(tensors))
    allowed = max(inputs.TOLERANCE[program.dtype], GELU_TANH.get((road, name), 0))
    assert inputs.distance(result, inputs.reference(program, tensors)) <= allowed


@pytest.mark.parametrize("road", ROADS)
def test_the_table_is_up_to_date(road, converted):
    lines = [table.row(road, name, *converted(road, name)) for name in PROGRAMS]
    wanted = [line for line in lines if line]
    assert table.kept(road) == wanted, "python test/exporters/table.py --write"


def test_a_wrong_result_is_noticed(converted):
    program = PROGRAMS["softmax"]
    _, module, _ = converted(ROADS[0], "softmax")
    tensors = inputs.draw(program)
    result, = stages.evaluate(module.replace(" = exp ", " = square "), inputs.arrays(tensors))
    assert inputs.distance(result, inputs.reference(program, tensors)) > inputs.TOLERANCE["float32"]


def test_the_share_counts_what_stays():
    def function(body):
        return f"module {{\n  func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {{\n{body}\n  }}\n}}\n"
    exp, sin = "%y = math.exp %x : tensor<4x8xf32>", "%z = math.sin %y : tensor<4x8xf32>"
    both = function(f"{exp}\n{sin}\nreturn %z : tensor<4x8xf32>")
    call = "%y = mirage_kernel.call @f_0(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>"
    assert share.flops(both) == 64
    assert share.share(both, function(f"{call}\n{sin}\nreturn %z : tensor<4x8xf32>")) == 0.5
    assert share.share(both, both) == 0
