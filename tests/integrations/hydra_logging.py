"""Hydra sets logging up for good; tests after it are to find it as it was."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def undone() -> Iterator[None]:
    """Take away the handlers, the level and the disabled loggers that Hydra leaves behind."""
    loggers = [each for each in logging.Logger.manager.loggerDict.values() if isinstance(each, logging.Logger)]
    disabled, level, handlers = [each.disabled for each in loggers], logging.root.level, list(logging.root.handlers)
    try:
        yield
    finally:
        for handler in [each for each in logging.root.handlers if each not in handlers]:
            logging.root.removeHandler(handler)
            handler.close()
        logging.root.setLevel(level)
        for logger, was in zip(loggers, disabled, strict=True):
            logger.disabled = was
