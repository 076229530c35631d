"""Open pages of a study's dashboard, without a browser: each follows the stream of news and draws again as the page does.

    python -m benchmarks.workloads.open_pages PORT STUDY PAGES

prints ``ready`` when all streams are open; when its input ends it prints how many messages, answers and refusals there were.
A page asks for the plots that a screen shows and for its table, three seconds after it last did and only if there was news, as
``static/study.js`` does. Each page has a loopback address of its own: all pages of one address share one limit of requests.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter

REDRAW = 3.0
SHOWN = ("history", "curves", "rungs", "importance")


class Page:
    """One page."""

    def __init__(self, number: int, port: int, study: str, counts: Counter[str]) -> None:
        self.address = f"127.0.{1 + number // 250}.{1 + number % 250}"
        self.port, self.study, self.counts = port, study, counts
        self.news = asyncio.Event()

    async def connect(self, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=(self.address, 0))
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return reader, writer

    async def follow(self) -> None:
        reader, self.stream = await self.connect(f"/api/studies/{self.study}/events")
        await reader.readuntil(b"\r\n\r\n")
        self.following = asyncio.create_task(self._listen(reader))
        self.drawing = asyncio.create_task(self._draw())

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            if line.startswith(b"data: "):
                self.counts["news"] += 1
                self.news.set()

    async def _draw(self) -> None:
        while True:
            await self.news.wait()
            self.news.clear()
            addresses = [f"/api/studies/{self.study}/plots/{kind}" for kind in SHOWN]
            for address in [*addresses, f"/api/studies/{self.study}/trials?size=50"]:
                reader, writer = await self.connect(address)
                head = await reader.readline()
                await reader.read()
                writer.close()
                self.counts["answers" if b" 200 " in head else "refusals"] += 1
            await asyncio.sleep(REDRAW)


async def main(port: int, study: str, pages: int) -> None:
    counts: Counter[str] = Counter(news=0, answers=0, refusals=0)
    opened = [Page(number, port, study, counts) for number in range(pages)]
    for page in opened:
        await page.follow()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    print(counts["news"], counts["answers"], counts["refusals"], flush=True)
    for page in opened:
        page.following.cancel()
        page.drawing.cancel()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
