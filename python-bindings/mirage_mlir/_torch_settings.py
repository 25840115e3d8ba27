"""The options of the backend (_torch_backend), checked."""

from __future__ import annotations

import dataclasses
import difflib
import functools
from dataclasses import dataclass, field
from typing import Any

from ._options import SearchOptions


@dataclass(frozen=True)
class Settings:
    """The backend's options.

    mode:     of torch.compile, for what is left to Inductor.
    inductor: Inductor's own options, for the same.
    search:   SearchOptions.
    """

    force: bool = False
    fallback: str = "inductor"
    shapes: int = 16
    min_nodes: int = 2
    max_nodes: int = 24
    executor: Any = None
    mode: str | None = None
    inductor: dict[str, Any] = field(default_factory=dict)
    search: SearchOptions = SearchOptions(time_budget=15.0)

    @functools.cached_property
    def search_key(self) -> str:
        """The same for the same search. ValueError for values that no search can have."""
        return self.search.pipeline()

    @functools.cached_property
    def rest_key(self) -> str:
        """The same where the rest is compiled in the same way."""
        return repr((self.fallback, sorted(self.patches().items(), key=str)))

    def patches(self) -> dict[str, Any]:
        """What differs from Inductor's configuration as it is."""
        from torch._inductor import list_mode_options
        return {**(list_mode_options(self.mode) if self.mode else {}), **self.inductor}

    @staticmethod
    def of(options: dict | None, mode: str | None = None) -> "Settings":
        """TypeError for an option that does not exist, ValueError for a value that is not possible."""
        given = {"mode": mode, **(options or {})}
        own = [f.name for f in dataclasses.fields(Settings) if f.name not in ("search", "inductor")]
        theirs = [f.name for f in dataclasses.fields(SearchOptions)]
        rest = {name: value for name, value in given.items() if name not in own + theirs}
        inductor = {name.replace("-", "_"): value for name, value in rest.items()}
        for name in set(inductor) - _inductor_options() if inductor else ():
            near = difflib.get_close_matches(name, own + theirs, 1)
            raise TypeError(f"backend mirage: no option '{name}'" + (f": did you mean '{near[0]}'?" if near else ""))
        settings = Settings(
            **{name: given[name] for name in own if name in given},
            inductor=inductor,
            search=Settings.search.replace(**{name: given[name] for name in theirs if name in given}),
        )
        settings._check()
        return settings

    def _check(self) -> None:
        if self.fallback not in ("inductor", "eager"):
            raise ValueError(f"backend mirage: fallback {self.fallback!r}: expected 'inductor' or 'eager'")
        self.search_key  # noqa: B018
        for name in ("shapes", "min_nodes", "max_nodes"):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 1:
                raise ValueError(f"backend mirage: {name} {getattr(self, name)!r}: expected a number of at least 1")
        if self.mode is not None:
            from torch._inductor import list_mode_options
            modes = list_mode_options()
            if self.mode not in modes:
                raise ValueError(f"backend mirage: mode {self.mode!r}: expected one of {', '.join(map(repr, modes))}")


def _inductor_options() -> set[str]:
    from torch._inductor import list_options
    return set(list_options())
