"""Does a model score more than a perfect prediction would? Then it knows the sample itself.

Nobody who was not shown the answers of these respondents can predict them better than the true shares do. A score above
the ceiling says that the sample, or a part of it, was in what the model was made from. Corrections for noise assume
that a prediction does not know the noise, and say nothing of such a model.
"""

import numpy as np

from assay.analyses.survey.loaded import Survey
from assay.stats.bootstrap import interval
from assay.stats.units import Units

KNOWS_THE_SAMPLE = "a score above that of a perfect prediction knows the sample, so that noise cannot be taken off"


def beyond_ceiling(survey: Survey, level: float) -> tuple[bool, ...]:
    """(M,) Whether each model is shown to be above the ceiling, questions as clusters, at the level for all of them."""
    alone = 1 - 2 * (1 - level) / max(len(survey.models), 1)  # one-sided, Bonferroni
    return tuple(_beyond(survey, m, alone) for m in range(len(survey.models)))


def _beyond(survey: Survey, m: int, level: float) -> bool:
    values = np.column_stack([survey.scores[:, m], survey.ceiling])
    missing = np.asarray(np.isnan(values).any(axis=1))
    if missing.all():
        return False
    found: Units = survey.grid(np.where(missing[:, None], np.nan, values)).pair(0, 1)
    return found.n > 1 and interval(found, method="t", confidence_level=level).interval.low > 0
