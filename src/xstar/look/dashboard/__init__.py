"""A live view of studies in the browser, and a small JSON interface for programs in any language.

    feeds       one fold per study, shared by all pages, followed by one thread; replays of earlier moments
    files       what a trial left in its folder, and what it printed
    filters     which trials, in which order
    reading     the addresses that read
    writing     the addresses that change a study, behind the token
    security    who may ask: host, origin, token; how much and how often; what a page may load
    timed       requests have to arrive in time
    server      the command's part: addresses, tokens, uvicorn
    static/     the pages: plain JavaScript modules, no build step, nothing from the network

FastAPI and uvicorn are imported by ``app`` and ``server``, at use (``pip install '.[dashboard]'``).
"""
