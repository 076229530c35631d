"""Charts are valid SVG, show all they were given, and survive what logarithms do not."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from numpy.testing import assert_allclose

from tools.svg import LETTER, LINE, NAME_SIZE, WIDTH, Axis, Canvas, Series, axis_over, line_chart, number, spread
from xstar.errors import InvalidArgument

SVG = "{http://www.w3.org/2000/svg}"


def parts(svg: str, name: str) -> list[ET.Element]:
    return ET.fromstring(svg).findall(f"{SVG}{name}")


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in parts(svg, "text")]


def places(element: ET.Element) -> list[tuple[float, float]]:
    pairs = (point.split(",") for point in element.attrib["points"].split())
    return [(float(x), float(y)) for x, y in pairs]


def test_all_lines_bands_and_names_are_there() -> None:
    band = Series("b & <c>", [1, 2, 3], [2.0, 3.0, 4.0], [1.0, 2.0, 3.0], [3.0, 4.0, 5.0])
    svg = line_chart([Series("a", [1, 2, 3], [1.0, 2.0, 1.5]), band], title="T < U", subtitle="S", x_label="X")
    assert len(parts(svg, "polyline")) == 2
    assert len(parts(svg, "polygon")) == 1
    assert {"a", "b & <c>", "T < U", "S", "X"} <= set(texts(svg))


def test_a_band_goes_up_its_upper_edge_and_back_along_the_lower_one() -> None:
    svg = line_chart([Series("a", [0, 1], [1.0, 3.0], [0.0, 2.0], [2.0, 4.0])], title="t", y_range=(0.0, 4.0))
    (edge,) = [places(element) for element in parts(svg, "polygon")]
    assert [x for x, _ in edge[:2]] == [x for x, _ in reversed(edge[2:])]
    assert edge[0][1] < edge[3][1]  # y grows downwards


def test_steps_have_no_slopes() -> None:
    svg = line_chart([Series("a", [0, 1, 2, 4], [3.0, 1.0, 1.0, 2.0], steps=True)], title="t")
    (line,) = [places(element) for element in parts(svg, "polyline")]
    assert len(line) == 6
    for (x, y), (right, other) in pairwise(line):
        assert x == right or y == other
    assert line[0][1] < line[-1][1] < line[2][1]  # it begins at 3, ends at 2; y grows downwards


@pytest.mark.parametrize(
    "values", [[0.0, 0.0], [0.0, 1.0], [-1.0, 1e-9], [math.inf, 2.0], [math.nan, math.nan], [5.0, 5.0]]
)
def test_a_logarithmic_axis_takes_any_number(values: list[float]) -> None:
    svg = line_chart([Series("a", [0.0, 10.0], values)], title="t", log_x=True, log_y=True)
    for element in parts(svg, "polyline"):
        for x, y in places(element):
            assert 0 <= x <= WIDTH
            assert math.isfinite(y)


def test_zero_stands_at_the_lower_edge_of_a_logarithmic_axis() -> None:
    axis = axis_over([0.0, 0.01, 1.0], 300, 100, log=True)
    assert (axis.low, axis.high) == (0.01, 1.0)
    assert axis.place(0.0) == axis.place(-3.0) == 300
    assert axis.place(1.0) == axis.place(7.0) == 100
    assert_allclose(axis.place(0.1), 200, atol=1e-9)


def test_points_without_a_value_are_left_out() -> None:
    svg = line_chart([Series("a", [1, 2, 3, 4], [math.inf, 2.0, math.nan, 1.0])], title="t")
    assert len(places(parts(svg, "polyline")[0])) == 2


@pytest.mark.parametrize(
    ("low", "high", "log", "ticks"),
    [
        (0.0, 90.0, False, [0, 20, 40, 60, 80]),
        (0.0, 0.6, False, [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]),
        (-1.0, 1.0, False, [-1, -0.5, 0, 0.5, 1]),
        (0.05, 100.0, True, [0.1, 1, 10, 100]),
        (1.0, 40.0, True, [1, 2, 5, 10, 20]),
        (3.1, 3.2, True, [3.1, 3.2]),
    ],
)
def test_ticks_are_round(low: float, high: float, log: bool, ticks: list[float]) -> None:
    assert_allclose(Axis(low, high, 0, 1, log).ticks(), ticks, atol=1e-12)


def test_ticks_stay_few() -> None:
    for power in range(1, 30):
        assert 2 <= len(Axis(1e-3, 10.0**power, 0, 1, log=True).ticks()) <= 9
        assert 3 <= len(Axis(0, 1.7**power, 0, 1).ticks()) <= 8


def test_numbers_read_well() -> None:
    assert [number(x) for x in (0.001, 25.0, 1000.0, 0.30000000000000004, 0.0, 1e-5, 1e9)] == [
        "0.001", "25", "1,000", "0.3", "0", "1e-05", "1e+09"
    ]  # fmt: skip


def test_names_keep_their_distance_and_their_order() -> None:
    found = spread([100, 101, 102, 330, 331], 75, 335)
    assert found[0] == 100
    assert found[-1] == 335
    assert all(after - before >= LINE - 1e-9 for before, after in pairwise(found))


def test_long_names_fit() -> None:
    name = "async-hyperband-stop"
    svg = line_chart([Series(name, [1, 2], [1.0, 2.0])], title="t")
    (element,) = [text for text in parts(svg, "text") if text.text == name]
    assert float(element.attrib["x"]) + len(name) * NAME_SIZE * LETTER <= WIDTH


@pytest.mark.parametrize("options", [{"y": [1.0]}, {"low": [1.0, 1.0]}, {"low": [1.0], "high": [1.0]}])
def test_series_that_do_not_fit_together_are_refused(options: dict[str, list[float]]) -> None:
    with pytest.raises(InvalidArgument, match="as many y as x"):
        Series("a", [1, 2], **{"y": [1.0, 2.0], **options})  # type: ignore[arg-type]


def test_an_empty_chart_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="empty"):
        line_chart([], title="t")


def test_a_canvas_escapes_words() -> None:
    canvas = Canvas(10, 10, 'a "title" & <more>')
    canvas.text(1, 1, "x < y & z")
    assert texts(canvas.svg()) == ["x < y & z"]
