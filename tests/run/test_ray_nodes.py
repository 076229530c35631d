"""Which nodes of a Ray cluster get slots; no cluster is needed for these."""

from __future__ import annotations

from collections import Counter

from xstar.run.ray.cluster import LOOK_SECONDS, Node, Nodes, spread

NEEDS = {"CPU": 2.0}
SMALL, LARGE = Node("a", "small", {"CPU": 4.0}), Node("b", "large", {"CPU": 8.0})


def test_slots_are_spread_as_far_as_there_is_room() -> None:
    assert [node.name for node in spread([SMALL, LARGE], [], 3, 10, NEEDS)] == ["small", "large", "small"]
    assert Counter(node.name for node in spread([SMALL, LARGE], [], 99, 99, NEEDS)) == {"small": 2, "large": 4}


def test_slots_that_are_there_count() -> None:
    assert [node.name for node in spread([SMALL, LARGE], ["a", "a", "gone"], 2, 10, NEEDS)] == ["large", "large"]
    assert list(spread([SMALL], ["a", "a"], 1, 10, NEEDS)) == []
    assert list(spread([SMALL, LARGE], [], 0, 10, NEEDS)) == []


def test_no_node_has_more_slots_than_there_are_to_be() -> None:
    assert [node.name for node in spread([LARGE], ["b"], 5, 2, NEEDS)] == ["large"]


def test_a_node_where_actors_do_not_start_is_left_alone_for_longer_each_time() -> None:
    nodes, now = Nodes(None), 100.0
    assert nodes.failed(SMALL, now) == 1
    assert nodes.usable([SMALL, LARGE], now) == [LARGE]
    assert nodes.usable([SMALL, LARGE], now + 2 * LOOK_SECONDS) == [SMALL, LARGE]
    assert nodes.failed(SMALL, now) == 2
    assert nodes.is_avoided(SMALL, now + 2 * LOOK_SECONDS)
    nodes.succeeded(SMALL)
    assert not nodes.is_avoided(SMALL, now)
    assert nodes.failed(SMALL, now) == 1


def test_a_node_without_room_on_its_disk_is_left_alone_for_a_while() -> None:
    nodes = Nodes(None)
    nodes.leave_alone(SMALL, until=400.0)
    assert nodes.usable([SMALL], 399.0) == []
    assert nodes.usable([SMALL], 400.0) == [SMALL]


def test_a_node_that_cannot_run_trials_never_gets_a_slot() -> None:
    nodes = Nodes(None)
    nodes.leave_alone(SMALL)
    assert nodes.usable([SMALL, LARGE], 1e9) == [LARGE]
