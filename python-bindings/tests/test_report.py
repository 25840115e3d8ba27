"""Reports: what they say, that they need nothing from elsewhere, and that a real browser shows them without
complaint."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import browser
import pytest

import mirage_mlir as mi
from mirage_mlir import _mirage
from mirage_mlir._charts import Row, bars, number, roofline
from mirage_mlir._report import Report, limit_us, program_bytes, proof_words

ROOT = Path(__file__).resolve().parents[2]
needs_browser = pytest.mark.skipif(browser.find() is None, reason=f"no browser here: {', '.join(browser.NAMES)}")


class Reader(HTMLParser):
    """Ids of sections, names in rows, whether every element that is opened is closed."""

    VOID = {"meta", "br", "link", "img"}

    def __init__(self, text):
        super().__init__()
        self.sections, self.graphs, self.open, self.links = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.links += [attrs[k] for k in ("src", "href", "xlink:href", "action") if k in attrs]
        if tag == "section":
            self.sections.append(attrs["id"])
        if "data-graph" in attrs:
            self.graphs.append(attrs["data-graph"])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


SECTIONS = ["program", "graph", "candidates", "times", "proof", "funnel", "messages", "settings"]


@pytest.fixture(scope="module")
def result():
    text = (ROOT / "examples/rmsnorm_linear.mlir").read_text()
    return mi.superoptimize(text, measure="no", target="h200", progress=False, max_candidates=8)


def test_everything_is_there(result):
    html = result.report().html
    reader = Reader(html)
    assert reader.sections == SECTIONS and reader.open == []
    assert reader.graphs == [g.name for g in result]
    best = result.best
    for part in ("rms_norm", "kernel rmsnorm_linear_0_k0", f"{best.cost.time_us:.2f} µs", f"2^{best.proof.log2_bound:.1f}",
                 f"{result.funnel['cut']['expression']:,}", f"{best.guard.candidate_relative:.2e}", "TB/s", "max_block_ops",
                 mi.__version__, "selected @rmsnorm_linear_0"):
        assert part in html, part


def test_nothing_from_elsewhere(result):
    html = result.report().html
    assert Reader(html).links == []
    assert set(re.findall(r"https?://[^\"' <)]*", html)) == {"http://www.w3.org/2000/svg"}  # the name of SVG's elements
    assert not re.search(r"<script|@import|url\(", html)
    assert "default-src 'none'" in html


def test_saved_and_in_notebooks(result, tmp_path):
    report = result.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.html
    assert report._repr_html_().startswith("<iframe srcdoc=") and "<section" not in report._repr_html_()
    assert result.report().html == report.html


@needs_browser
def test_a_browser_shows_it(result, tmp_path):
    page = tmp_path / "report.html"
    result.report(page)
    document, complaints = browser.dump(page, tmp_path / "profile")
    assert complaints == []
    reader = Reader(document)
    assert reader.sections == SECTIONS and reader.graphs == [g.name for g in result]
    assert len(re.findall(r"<svg", document)) == len(re.findall(r"<svg", page.read_text(encoding="utf-8")))


@needs_browser
def test_the_browser_would_complain(tmp_path):
    """What the test above relies on: a request that the page's policy forbids is heard of."""
    page = tmp_path / "page.html"
    page.write_text("<!DOCTYPE html><meta http-equiv='Content-Security-Policy' content=\"default-src 'none'\">"
                    "<img src='http://example.invalid/x.png'>")
    _, complaints = browser.dump(page, tmp_path / "profile")
    assert complaints


def test_names_and_messages_are_escaped(result):
    other = mi.Result(list(result), result.program, [("remark", 1, 2, "<b>&</b>")], result.funnel, True,
                      result.options.replace(max_block_ops=9))
    html = other.report().html
    assert "&lt;b&gt;&amp;&lt;/b&gt;" in html and "<b>&" not in html
    assert "The search was interrupted" in html
    assert '<tr class="changed"><td>max_block_ops</td><td>9</td>' in html


def test_without_a_funnel_or_a_candidate():
    """A program that nothing beats, and counts that nobody kept."""
    g = mi.new_graph("alone")
    x = g.new_input((64, 64), "float16")
    g.mark_output(g.exp(x))
    found = mi.superoptimize(g, measure="no", target="a100", progress=False)
    html = Report.of(mi.Result([found[-1]], found.program, [], {}, False, found.options)).html
    assert Reader(html).sections == SECTIONS
    assert "The compiler said nothing" in html and "left no counts" in html


def test_proof_in_words(result):
    proof = result.best.proof
    words = proof_words(proof)
    assert f"{proof.trials} random points" in words and f"2^{proof.log2_bound:.1f}" in words and "full size" in words
    moved = proof_words(replace(proof, transferred=True, axes=2, points=3, pieces=4, free_exponentials=True))
    assert "2 axes are smaller, 3 points" in moved and "in 4 pieces" in moved and "exp(a + b)" in moved
    assert "own lowering" in proof_words(None)


def test_limits(result):
    target = _mirage.target("h200")
    cost = result.best.cost
    assert limit_us(cost, target) == pytest.approx(cost.bytes / target["dram_bytes_per_us"])
    assert limit_us(replace(cost, flops=1e12), target) == pytest.approx(1e12 / target["matmul_flops_per_us"])
    assert program_bytes(result.best.program_description) == 2 * (2 * 4096 + 4096 + 4096 * 6144 + 2 * 6144)


def test_charts():
    chart = ET.fromstring(bars([Row("a<b", [(10, "x"), (100, "y")]), Row("none", [(0, "x")])], "t", limit=(50, "here")))
    widths = [float(r.get("width")) for r in chart.iter("rect")]
    assert widths[1] == pytest.approx(10 * widths[0], rel=0.01) and widths[2] == 1.0
    chart = ET.fromstring(bars([Row("a", [(9, "x")]), Row("b", [(99, "x")])], "t", log=True))
    logs = [float(r.get("width")) for r in chart.iter("rect")]
    assert logs[1] == pytest.approx(2 * logs[0], rel=0.01)
    assert number(1234567) == "1,234,567" and number(0.5) == "0.50"
    dots = [(float(c.get("cx")), float(c.get("cy"))) for c in ET.fromstring(
        roofline([("slow", 2.0, 1e6, "p"), ("ridge", 100.0, 1e8, "p")], 1e6, 1e8, "t")).iter("circle")]
    text = roofline([("ridge", 100.0, 1e8, "p")], 1e6, 1e8, "t")
    roof = re.search(r'class="roof" d="M[\d.]+ [\d.]+L([\d.]+) ([\d.]+)', text)
    alone = ET.fromstring(text).find("circle")
    assert dots[0][0] < dots[1][0] and dots[0][1] > dots[1][1]
    assert (roof.group(1), roof.group(2)) == (alone.get("cx"), alone.get("cy"))  # full rate at the ridge lies on the roof
