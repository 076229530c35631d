"""What runs on a node: a Ray actor that starts a worker process and passes its messages on, without reading them.

The actor is pickled by value and uses the standard library only. So it starts on any node, can say what is missing there, and
neither it nor the objective's libraries are loaded twice. The worker is the same program as that of local processes.
"""

from __future__ import annotations

from typing import Any


def relay_class() -> Any:
    """The class of the actor. It is made in a function: Ray pickles such a class by value."""

    class Relay:
        """One slot: one worker process at a time."""

        def __init__(self) -> None:
            import threading

            self._sending = threading.Lock()
            self._process: Any = None
            self._connection: Any = None
            self._log: Any = None
            self._status: Any = None
            self._generation = 0

        def look(self, token: str | None) -> dict[str, Any]:
            """What this node is like: versions, whether it sees a file."""
            import importlib.metadata
            import importlib.util
            import os
            import runpy
            import sys

            def version(package: str) -> str | None:
                try:
                    return importlib.metadata.version(package)
                except importlib.metadata.PackageNotFoundError:
                    return None

            spec = importlib.util.find_spec("xstar")
            root = spec.submodule_search_locations[0] if spec and spec.submodule_search_locations else None
            return {
                "sees": token is None or os.path.exists(token),
                "python": "{}.{}".format(*sys.version_info[:2]),
                "xstar": root and runpy.run_path(os.path.join(root, "core", "version.py"))["VERSION"],
                "cloudpickle": version("cloudpickle"),
            }

        def start(
            self,
            generation: int,
            begin: bytes,
            worker: str,
            threads: dict[str, str],
            hide_gpus: bool,
            path: list[str],
            folder: str,
        ) -> int:
            """Start a worker, whose program ``worker`` is, instead of the last one."""
            import importlib.util
            import os
            import subprocess
            import sys
            import tempfile
            from multiprocessing.connection import Pipe

            import ray

            self.end()
            made = {**threads, **os.environ, **({"CUDA_VISIBLE_DEVICES": ""} if hide_gpus else {})}
            own = [entry for entry in sys.path if entry]
            # This node's own modules come first; then those folders of the driver's that exist here, too.
            made["PYTHONPATH"] = os.pathsep.join(
                [*own, *(entry for entry in path if entry not in own and os.path.exists(entry))]
            )
            package = importlib.util.find_spec("xstar").submodule_search_locations[0]  # type: ignore[union-attr, index]
            given = ray.get_runtime_context().runtime_env.get("working_dir")
            connection, theirs = Pipe()
            (ours_life, self._lifeline), (said, status) = os.pipe(), os.pipe()
            self._status = open(said, "rb", buffering=0)  # noqa: SIM115 - as the log
            self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in end()
            program, files = os.path.join(package, "run", "supervisor.py"), (ours_life, status, theirs.fileno())
            arguments = [*files[:2], os.getpid(), 0, 0, files[2], sys.executable, "-P", "-c", worker]
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-S",
                    program,
                    *map(str, (*arguments, files[2], os.getpid(), os.path.dirname(package))),
                ],
                pass_fds=files,
                env=made,
                cwd=folder if not given and os.path.isdir(folder) else None,
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                start_new_session=True,
            )
            os.write(self._lifeline, b"g")
            theirs.close()
            for file in (ours_life, status):
                os.close(file)
            self._connection, self._generation = connection, generation
            self.tell(generation, [begin])
            return generation

        def tell(self, generation: int, frames: list[bytes]) -> None:
            """Pass messages on to the worker."""
            if generation != self._generation:
                return
            with self._sending:
                try:
                    for frame in frames:
                        self._connection.send_bytes(frame)
                except OSError:
                    pass  # it died; who listens finds out

        def exchange(self, generation: int, frames: list[bytes]) -> tuple[list[bytes], str | None, str]:
            """Pass messages on, and wait for the worker's: returns them, and how it ended if it did."""
            import time
            from multiprocessing.connection import wait

            self.tell(generation, frames)
            connection, process, log, status = self._connection, self._process, self._log, self._status
            found: list[bytes] = []
            if generation != self._generation:
                return found, "signal 9", ""
            try:
                while not wait([connection], 0.5) and process.poll() is None:
                    pass
                # Reports of a short trial come in a row: they travel together, unless the run is over and its slot free.
                until = time.monotonic() + 0.005
                while connection.poll(0.001 if found and time.monotonic() < until else 0):
                    found.append(connection.recv_bytes())
                    if b"finished" in found[-1] or b"failed" in found[-1]:
                        break
            except (EOFError, OSError):  # its last words are read; it is dead, or about to be
                process.wait()
            if process.poll() is None:
                return found, None, ""
            return found, status.read(100).decode() or "signal 9", self._last_words(process.pid, log)

        def _last_words(self, worker: int, log: Any) -> str:
            """The end of what a dead worker printed: about its trial, else about itself."""
            import glob
            import os
            import tempfile

            try:
                for name in glob.glob(os.path.join(tempfile.gettempdir(), f"xstar-worker-{worker}", "*", "stderr.txt")):
                    with open(name, "rb") as file:
                        return file.read()[-2000:].decode(errors="replace").strip()
                log.seek(0)
                return log.read()[-2000:].decode(errors="replace").strip()  # type: ignore[no-any-return]
            except (OSError, ValueError):
                return ""

        def end(self) -> None:
            """Kill the worker and every process it started."""
            import contextlib
            import os
            import shutil
            import signal
            import tempfile

            process, self._process = self._process, None
            if process is None:
                return
            self._generation = -1
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.close(self._lifeline)  # the connection, the status and the log are closed when nobody listens any more
            shutil.rmtree(os.path.join(tempfile.gettempdir(), f"xstar-worker-{process.pid}"), ignore_errors=True)

    return Relay
