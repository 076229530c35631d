"""Studies of networks, and the parts of pictures of them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import xstar as xs
from xstar import nets
from xstar.nets.synthetic import f3

SVG = "{http://www.w3.org/2000/svg}"


def a_study(trials: int, **parameters: Any) -> xs.Study:
    space = xs.Space(net=nets.MLP(inputs=8), lr=xs.Float(0, 1), **parameters)
    study = xs.Study(space, metric="score", direction="maximize", seed=3)
    for _ in range(trials):
        trial = study.ask()
        assert trial is not None
        study.tell(trial, f3(trial["net"]))
    return study


def parts(svg: str, name: str) -> list[ET.Element]:
    return ET.fromstring(svg).findall(f"{SVG}{name}")


def words(svg: str) -> str:
    return "\n".join(element.text or "" for element in parts(svg, "text"))
