"""What /metrics says of a ledger: how far it reaches, what serves, and what the gate measured."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from aal_engine.errors import LedgerError
from aal_engine.service.results import Filters, Results

WHO = ("agent", "pack")
WHAT = (*WHO, "version", "model_family", "suite", "kind", "metric")


class LedgerFigures(Collector):
    """Figures of one ledger, as it is when they are asked for."""

    def __init__(self, results: Results) -> None:
        self._results = results

    def collect(self) -> Iterator[Metric]:
        """Yield the figures; of a ledger that cannot be read, that alone."""
        readable = GaugeMetricFamily("aal_ledger_readable", "Whether the ledger can be read.")
        try:
            figures = [self._size(), *self._agents()]
        except LedgerError:
            readable.add_metric((), 0)
            yield readable
            return
        readable.add_metric((), 1)
        yield readable
        yield from figures

    def _size(self) -> Metric:
        head = self._results.head()
        return GaugeMetricFamily(
            "aal_ledger_entries", "Entries of the ledger.", 0 if head is None else head.size
        )

    def _agents(self) -> list[Metric]:
        serving = GaugeMetricFamily(
            "aal_serving", "1 for the version that serves.", labels=(*WHO, "version")
        )
        halted = GaugeMetricFamily("aal_halted", "1 while a person is needed.", labels=WHO)
        metric = GaugeMetricFamily(
            "aal_release_metric", "Means of the last decision's records.", labels=WHAT
        )
        for agent in self._results.agents():
            who = (agent["agent"], agent["pack"])
            if agent["serving"] is not None:
                serving.add_metric((*who, agent["serving"]), 1)
            halted.add_metric(who, int(agent["halted"]))
            if agent["last"] is not None:
                asked = Filters(decision=agent["last"]["id"])
                for _, row in self._results.evals(asked, limit=-1):
                    which = (row["version"], row["model_family"] or "", row["suite"], row["kind"])
                    for name, mean in row["metrics"].items():
                        if mean["value"] is not None:
                            metric.add_metric((*who, *which, name), mean["value"])
        return [serving, halted, metric]
