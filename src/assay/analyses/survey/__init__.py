"""Is a survey benchmark signal or noise? One module per question, all on the same loaded data.

What an analysis is
-------------------
A function ``(survey: Survey, design: Design) -> Section``, listed by name in `assay.analyses.survey.registry.ANALYSES`
as ``"module:function:Record"``; it is imported when it is asked for. ``assay survey --only NAME`` runs it alone,
and without
``--only`` all run in the order of the registry. To plug in another one: write the module, add one line there.

What it is given
----------------
`Survey` (`assay.analyses.survey.loaded`) is frozen; what is expensive is a cached property, so analyses feed
each other:

- ``truth``: `assay.data.survey.Truth`. Cells (question × segment), sorted by segment, then question: ``question``
  (C,), ``segment`` (C,) codes into ``questions`` and ``segments``; ``shares`` (C, K), rows sum to 1, padded with 0;
  ``options`` (C,) how many count; ``n`` (C,) respondents; ``defining`` (C,) where a question defines the segment.
  A segment has ``id``, ``label``, ``category`` and ``n``; ``categories`` maps a category to the codes of its segments.
- ``predictions``: `assay.data.survey.Predictions`, a row per answer: ``model``, ``cell``, ``context`` (number of
  context questions, -1: not given), ``run`` (R,) codes, ``shares`` (R, K), ``status`` (R,): OK, UNPARSEABLE,
  WRONG_LENGTH, ERROR (no answer was given), SCORE_ONLY (the light form has a score and no distribution),
  ``reported`` (R,) the file's own score or NaN.
- ``prior``: another round as a `Truth`, or None; ``summary``: the published summary, or None.
- ``row_scores`` (R,) 1 - sqrt(JSD) of every answer as the benchmark computes it (NaN: no answer);
  ``row_honest`` the same with failures as NaN.
- ``scores`` (C, M) mean of ``row_scores`` over contexts and runs, NaN where a model has none; ``honest`` (C, M).
- ``weights`` (C,) of a cell in the overall score, which is the mean over segments of the mean over questions.
- ``overall(values)`` (M,), ``by_segment(values)`` (S, M), ``by_question(values)`` (Q, M) of a (C, M) array.
- ``baselines``: name -> (C, K) predicted shares ("uniform", "marginal", "marginal, left out", "marginal, pooled",
  "prior round"; NaN rows where there is none) and ``baseline_scores``: name -> (C,). ``reference`` is the name of the
  population marginal that models are read against.
- In a report all models have a score in every cell of ``truth``; ``everyone`` and ``whole`` have the others.
- ``ceiling`` (C,) the expected score of a perfect predictor, ``source_ceiling`` (C,) by the benchmark's formula.
- ``resampled(design)``: scores of every model under multinomial resampling of the respondents, drawn once for all:
  ``by_segment`` (S, M, B), ``by_question`` (Q, M, B), ``overall`` (M, B). With ``by="context"`` the columns are models
  at a context level: ``columns`` lists them as (model, level).

Of the design an analysis uses ``level``, ``resamples`` (None: its own default), ``seed``, ``method`` and ``test``.

What it gives
-------------
A frozen record that is a `assay.analyses.survey.section.Section`:

- ``name``: its name in the registry;
- ``sheets()``: the tables of a person, from which ``rows()`` is made;
- ``sentences()``: a list of `Statement(text, holds, warning)`: what a paper may say, each true, or withheld (``holds``
  False) with the reason in the text; a warning says that a number must not be taken for what it seems to be;
- ``to_dict()`` and ``from_dict()``: exact, plain, no NaN, made from the fields; it becomes ``sections[name]`` of
  ``DIR/survey.json``.
"""
