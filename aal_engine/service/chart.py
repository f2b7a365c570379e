"""A metric's history as a small SVG picture: a line, its tolerance band, releases, rollbacks.

Decisions stand at equal distances, oldest first. Where a decision lacks the metric the line is
broken. A picture is geometry and classes; how they look is the style sheet's, so that a page with a
strict content policy can show it. `standing` brings its own style, for a file by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from math import ceil, floor

from aal_engine.measure.metric import Direction

WIDTH, HEIGHT = 320, 132
LEFT, RIGHT, TOP, BOTTOM = 38, 46, 16, 20
LEAST_SPAN = 0.08
"""The range of values that a picture shows at least, so that noise does not look like a cliff."""
STEPS = (0.02, 0.05, 0.1, 0.2)
"""What the ends of the range are multiples of."""

STYLE = """
svg { color-scheme: light dark; --ink: #1f2328; --soft: #656d76; --faint: #d5d9de;
  --accent: #0a58ca; --band: #0a58ca1f; --bad: #b3261e; --ground: #ffffff; }
@media (prefers-color-scheme: dark) { svg { --ink: #e6edf3; --soft: #9aa4af; --faint: #343b44;
  --accent: #7ab7ff; --band: #7ab7ff2b; --bad: #ff8a80; --ground: #14181d; } }
text { font: 11px system-ui, sans-serif; fill: var(--soft); font-variant-numeric: tabular-nums; }
.ground { fill: var(--ground); } .name { font-weight: 600; fill: var(--ink); }
.grid { stroke: var(--faint); stroke-width: 1; } .band { fill: var(--band); }
.line { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; }
.dot { fill: var(--accent); stroke: var(--ground); stroke-width: 1.5; }
.blocked { fill: var(--ground); stroke: var(--bad); stroke-width: 2; }
.rollback { stroke: var(--bad); stroke-width: 1.5; stroke-dasharray: 3 3; }
.promoted { fill: var(--soft); } .last { fill: var(--ink); font-weight: 600; }
"""


@dataclass(frozen=True, slots=True)
class Point:
    """One decision in a metric's history; a `value` of None is a gap.

    `band` reaches from what the metric was compared with to the worst value that would have been
    within the tolerance, None where nothing was compared.
    """

    version: str
    released: bool
    value: float | None
    band: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """A version that came into service between two decisions, by a release or a rollback.

    `place` counts decisions from 0: 1.5 lies between the second and the third.
    """

    place: float
    rollback: bool
    version: str | None


@dataclass(frozen=True, slots=True)
class Series:
    """One metric of one model family on one suite, over decisions from the oldest to the newest."""

    metric: str
    direction: Direction
    points: tuple[Point, ...]
    marks: tuple[Mark, ...] = ()

    @property
    def latest(self) -> float | None:
        """The newest value, None where the newest decision lacks the metric."""
        return self.points[-1].value if self.points else None


def told(value: float) -> str:
    """Return a value as pictures and pages write it.

    >>> told(0.87), told(1.0), told(0.12345)
    ('0.87', '1', '0.123')
    """
    text = f"{value:.3f}"
    return text.rstrip("0").rstrip(".")


def described(series: Series) -> str:
    """Return in words what the picture shows, for those who do not see it."""
    values = [point.value for point in series.points if point.value is not None]
    if not values:
        return f"{series.metric}: no value"
    gaps = len(series.points) - len(values)
    over = _count(len(series.points), "decision")
    parts = [f"{series.metric} over {over}: from {told(min(values))} to {told(max(values))}"]
    if series.latest is not None:
        parts.append(f"now {told(series.latest)}")
    if gaps:
        parts.append(f"{_count(gaps, 'decision')} without a value")
    rollbacks = sum(mark.rollback for mark in series.marks)
    if rollbacks:
        parts.append(_count(rollbacks, "rollback"))
    return ", ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def picture(series: Series) -> str:
    """Return the history as an SVG element that a page styles."""
    says = escape(described(series), quote=True)
    view = f"0 0 {WIDTH} {HEIGHT}"
    opening = f'<svg class="chart" viewBox="{view}" role="img" aria-label="{says}">'
    return "".join([opening, *_drawn(series), "</svg>"])


def standing(series: Sequence[tuple[str, Series]], columns: int = 2) -> str:
    """Return histories, each with its caption, as one SVG file with a style of its own."""
    rows = -(-len(series) // columns)
    step = HEIGHT + 22
    width, height = WIDTH * columns, step * rows
    says = escape("; ".join(f"{name}, {described(each)}" for name, each in series), quote=True)
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{says}">',
        f"<style>{STYLE}</style>",
        f'<rect class="ground" width="{width}" height="{height}"/>',
    ]
    for place, (name, each) in enumerate(series):
        x, y = place % columns * WIDTH, place // columns * step
        parts += [
            f'<g transform="translate({x} {y})">',
            f'<text class="name" x="{LEFT}" y="14">{escape(name)}</text>',
            '<g transform="translate(0 22)">',
            *_drawn(each),
            "</g></g>",
        ]
    return "".join([*parts, "</svg>\n"])


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float
    count: int

    def x(self, place: float) -> float:
        room = WIDTH - LEFT - RIGHT
        return LEFT + room * ((place / (self.count - 1)) if self.count > 1 else 0.5)

    def y(self, value: float) -> float:
        kept = min(max(value, self.low), self.high)
        room = HEIGHT - TOP - BOTTOM
        return TOP + room * (self.high - kept) / (self.high - self.low)


def _drawn(series: Series) -> Iterator[str]:
    scale = _scaled(series)
    for value in (scale.low, scale.high):
        y = _n(scale.y(value))
        yield f'<path class="grid" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>'
        yield f'<text x="{LEFT - 6}" y="{_n(scale.y(value) + 4)}" text-anchor="end">{told(value)}</text>'
    yield from _bands(series.points, scale)
    yield from _marks(series.marks, scale)
    yield from _line(series.points, scale)
    yield from _names(series.points, scale)
    if series.latest is not None:
        x = _n(scale.x(len(series.points) - 1) + 8)
        low = _n(scale.y(series.latest) + 4)
        yield f'<text class="last" x="{x}" y="{low}">{told(series.latest)}</text>'


def _scaled(series: Series) -> _Scale:
    seen = [point.value for point in series.points if point.value is not None]
    seen += [bound for point in series.points for bound in point.band or ()]
    low, high = (min(seen), max(seen)) if seen else (0.0, 1.0)
    spare = max(LEAST_SPAN - (high - low), 0.0) / 2
    step = next(each for each in STEPS if high - low + 2 * spare <= 6 * each)
    low = max(floor((low - spare) / step + 1e-9) * step, 0.0)
    high = min(ceil((high + spare) / step - 1e-9) * step, 1.0)
    return _Scale(low, high, len(series.points))


def _bands(points: Sequence[Point], scale: _Scale) -> Iterator[str]:
    half = (scale.x(1) - scale.x(0)) / 2 if scale.count > 1 else 12.0
    for place, point in enumerate(points):
        if point.band is None:
            continue
        x = scale.x(place)
        left, right = max(x - half, LEFT), min(x + half, WIDTH - RIGHT)
        top, bottom = sorted(scale.y(bound) for bound in point.band)
        yield (
            f'<rect class="band" x="{_n(left)}" y="{_n(top)}" width="{_n(right - left)}" '
            f'height="{_n(max(bottom - top, 1.0))}"/>'
        )


def _marks(marks: Sequence[Mark], scale: _Scale) -> Iterator[str]:
    for mark in marks:
        x, y = scale.x(min(max(mark.place, 0), scale.count - 1)), HEIGHT - BOTTOM
        if mark.rollback:
            says = f"rollback to {mark.version}" if mark.version else "taken out of service"
            shape = f'<path class="rollback" d="M{_n(x)} {TOP - 8}V{y}">'
        else:
            says = f"{mark.version} put into service"
            shape = f'<path class="promoted" d="M{_n(x - 4)} {TOP - 12}h8l-4 6z">'
        yield f"{shape}<title>{escape(says)}</title></path>"


def _line(points: Sequence[Point], scale: _Scale) -> Iterator[str]:
    steps = []
    for (place, before), (_, point) in pairwise(enumerate(points)):
        if before.value is not None and point.value is not None:
            start = f"M{_n(scale.x(place))} {_n(scale.y(before.value))}"
            steps.append(f"{start}L{_n(scale.x(place + 1))} {_n(scale.y(point.value))}")
    if steps:
        yield f'<path class="line" d="{"".join(steps)}"/>'
    for place, point in enumerate(points):
        if point.value is None:
            continue
        name, r = ("dot", 3.5) if point.released else ("dot blocked", 4)
        says = escape(
            f"{point.version}: {told(point.value)}, {'released' if point.released else 'blocked'}"
        )
        x, y = _n(scale.x(place)), _n(scale.y(point.value))
        yield f'<circle class="{name}" cx="{x}" cy="{y}" r="{r}"><title>{says}</title></circle>'


def _names(points: Sequence[Point], scale: _Scale) -> Iterator[str]:
    if not points:
        return
    y = HEIGHT - 5
    ends = [(0, "start", points[0]), (len(points) - 1, "end", points[-1])]
    for place, anchor, point in ends if len(points) > 1 else [(0, "middle", points[0])]:
        name = point.version if len(point.version) <= 18 else point.version[:17] + "…"
        yield f'<text x="{_n(scale.x(place))}" y="{y}" text-anchor="{anchor}">{escape(name)}</text>'


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
