"""Where? On a Ray cluster: ``settings`` (``xs.Ray``), ``cluster`` (nodes), ``relay`` (on a node), ``executor`` (here)."""

from xstar.run.ray.settings import Ray as Ray, chosen as chosen
