"""How far a search has come: tqdm's bar on a terminal or in a notebook, a logger's lines elsewhere, or a callback."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any, Callable, Union

logger = logging.getLogger("mirage_mlir")

Progress = Union[bool, None, str, Callable[[dict], Any]]


class Reporter:
    """Takes the passes' events (JSON), keeps what the searches found, and shows the rest.

    show: a function that is called with each event as a dictionary; True: a bar always; None: a bar where standard error is
    a terminal, or in a notebook; False: silence. rename: gives the events' text the program's own name. Events also go to the logger `mirage_mlir` at level DEBUG.
    """

    def __init__(self, show: Progress = None, rename: Callable[[str], str] = str):
        self.found: dict[str, dict] = {}  # what the search said at its end, by program
        self._rename = rename
        self._call = show if callable(show) else None
        self._wants_bar = show is True or (show is None and _is_interactive())
        self._bar: Any = None

    def __call__(self, text: str) -> None:
        text = self._rename(text)
        event = json.loads(text)
        if event.get("event") == "search":
            self.found[event["program"]] = event
        logger.debug("%s", text)
        if self._call:
            self._call(event)
        elif self._wants_bar and event.get("event") == "progress":
            self._draw(event)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _draw(self, event: dict) -> None:
        if self._bar is None:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                self._wants_bar = False
                return
            self._bar = tqdm(unit=" states", leave=False, bar_format="{desc}: {n_fmt} states, {elapsed}{postfix}",
                             unit_scale=True)
        total = event.get("total")
        self._bar.set_description(f"{event.get('program')} {event.get('phase')}"
                                  + (f" {event.get('done')}/{total}" if total else ""), refresh=False)
        if event.get("best_us"):
            self._bar.set_postfix_str(f"best <= {event['best_us']:.2f} us", refresh=False)
        self._bar.n = event.get("states", self._bar.n)
        self._bar.refresh()

    def log(self, messages: list[tuple[str, int, int, str]]) -> None:
        """What the passes said, as log records: remarks at INFO, warnings at WARNING."""
        levels = {"warning": logging.WARNING, "error": logging.ERROR}
        for severity, _, _, message in messages:
            logger.log(levels.get(severity, logging.INFO), "%s", message)


def _is_interactive() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules
