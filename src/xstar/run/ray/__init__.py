"""Where? On a Ray cluster: ``settings`` (``xs.Ray``), ``cluster`` (nodes), ``relay`` (on a node), ``executor`` (here)."""

from xstar.run.ray.cluster import import_ray as import_ray
from xstar.run.ray.settings import EXECUTORS as EXECUTORS, Ray as Ray, chosen as chosen
