"""Strict mypy checks with this module that podium's metrics and companions fit the contract; nothing in it
runs.

A module fits a Protocol if it defines everything that the Protocol names, with the right types.
"""

import metric as unified
from metrics.markup_consistency import companion as of_markup_consistency
from metrics.markup_consistency import metric as markup_consistency
from metrics.readable import companion as of_readable
from metrics.readable import metric as readable
from metrics.scifact import companion as of_scifact
from metrics.scifact import metric as scifact
from metrics.trec_is import companion as of_trec_is
from metrics.trec_is import metric as trec_is
from metrics.unified import companion as of_unified
from podium.metric.contract import Companion, StatisticsFile

METRICS: list[StatisticsFile] = [unified, markup_consistency, readable, scifact, trec_is]
COMPANIONS: list[Companion] = [
    of_unified.companion,
    of_markup_consistency.companion,
    of_readable.companion,
    of_scifact.companion,
    of_trec_is.companion,
]
