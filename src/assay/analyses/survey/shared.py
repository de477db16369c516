"""The same cells for every model: what is compared, and what each model has beside it."""

from dataclasses import replace

import numpy as np

from assay.analyses.survey.loaded import Own, Survey
from assay.errors import InputError


def on_shared_cells(survey: Survey) -> Survey:
    """The survey without the cells that a model has no score for, so that every number is over the same ones.

    Models without any score have no part in that.
    """
    there = ~np.isnan(survey.scores)  # (C, M)
    scored = np.asarray(there.any(axis=0))
    shared = np.asarray(there[:, scored].all(axis=1))
    if not scored.any() or shared.all():
        return survey
    overall, counts = survey.overall(survey.scores), there.sum(axis=0)
    own = tuple(Own(name, float(overall[m]), int(counts[m])) for m, name in enumerate(survey.models) if scored[m])
    fewest = min(own, key=lambda one: one.cells)
    if not shared.any():
        raise InputError(
            f"no question × segment has an answer of every model ({fewest.model} has {fewest.cells:,} of "
            f"{len(survey.truth):,}), so that nothing can be compared; leave models out, or look at them one by one."
        )
    who = "every model" if len(own) > 1 else own[0].model
    note = f"every number is over the {shared.sum():,} of {len(shared):,} questions × segments that {who} answered"
    if len(own) > 1 and fewest.cells < max(one.cells for one in own):
        note += f"; {fewest.model} answered the fewest, {fewest.cells:,}"
    return replace(
        survey,
        truth=survey.truth.only(shared),
        predictions=replace(survey.predictions.only(shared), notes=(*survey.predictions.notes, note)),
        own=own if len({one.cells for one in own}) > 1 else (),
        whole=survey,
        shared=shared,
        _resampled={},
    )
