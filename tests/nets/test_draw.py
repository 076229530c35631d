"""Pictures: well-formed, complete, and without boxes on top of each other."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from tests.nets.cases import random_graphs
from xstar.nets import CNN, Graph, Label, Layer, register_label
from xstar.nets.draw import thumbnail

NAMESPACE = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("graph", [*random_graphs(1, 12, [6, 15, 30]), *CNN(32).pool[:2]], ids=repr)
def test_a_picture_shows_every_layer_and_edge(graph: Graph) -> None:
    root = ElementTree.fromstring(graph.draw())
    boxes, texts = root.findall(f"{NAMESPACE}rect"), root.findall(f"{NAMESPACE}text")
    assert len(root.findall(f"{NAMESPACE}path")) == len(graph.edges)
    shown = [text.text or "" for text in texts]
    for number, one in enumerate(graph.layers):
        assert shown[number].startswith(f"{number}: {one.op}")
        assert one.units is None or f", {one.units}" in shown[number]
    rows: dict[float, list[tuple[float, float]]] = {}
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for box in boxes:
        left, top = float(box.attrib["x"]), float(box.attrib["y"])
        right = left + float(box.attrib["width"])
        assert left >= 0 <= top
        assert right <= width
        assert top + float(box.attrib["height"]) <= height
        rows.setdefault(top, []).append((left, right))
    for row in rows.values():
        for (_, right), (left, _) in pairwise(sorted(row)):
            assert right < left
    assert float(boxes[0].attrib["y"]) == min(rows)
    assert float(boxes[-1].attrib["y"]) == max(rows)


@pytest.mark.parametrize("graph", random_graphs(1, 3, [6, 30]), ids=repr)
def test_a_thumbnail_has_a_dot_for_every_layer_within_its_frame(graph: Graph) -> None:
    text, ratio = thumbnail(graph)
    root = ElementTree.fromstring(text)
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    assert ratio == pytest.approx(width / height, rel=0.02)
    dots = root.findall(f"{NAMESPACE}g/{NAMESPACE}circle")
    assert len(dots) == len(graph.layers)
    for dot in dots:
        x, y, r = (float(dot.attrib[name]) for name in ("cx", "cy", "r"))
        assert left <= x - r <= x + r <= left + width
        assert top <= y - r <= y + r <= top + height
    (path,) = root.findall(f"{NAMESPACE}path")
    assert path.attrib["d"].count("M") == len(graph.edges)


def test_masses_strides_and_odd_names() -> None:
    register_label(Label("test <b>&", family="cnn", group="conv"))
    layers = [Layer("ip"), Layer("conv3", 8, 2), Layer("test <b>&", 4), Layer("softmax"), Layer("op")]
    graph = Graph(layers, [(0, 1), (1, 2), (2, 3), (3, 4)])
    root = ElementTree.fromstring(graph.draw(masses=True))
    assert [text.text for text in root.findall(f"{NAMESPACE}text")] == [
        *("0: ip (4)", "1: conv3, 8 /2 (8)", "2: test <b>&, 4 (32)", "3: softmax (4)", "4: op (4)"),
    ]
    assert graph._repr_svg_() == graph.draw()
