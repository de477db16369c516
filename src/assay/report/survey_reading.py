"""How to read the sections of a survey report."""

#: Title of each section.
TITLES = {
    "scores": "Scores",
    "baselines": "Baselines",
    "noise": "Noise",
    "intervals": "Intervals",
    "pairs": "Which models can be told apart",
    "weighting": "Weights",
    "fairness": "Fairness",
    "context": "Context",
    "repeats": "Repeated runs",
}

#: How to read its tables.
READING = {
    "scores": (
        "1 − √JSD of predicted and true shares, 1 is perfect; the mean over segments of the mean over "
        "questions. “Honest” leaves out answers that could not be read, which the benchmark scores 0 or 0.1."
    ),
    "baselines": (
        "A model has to beat predictors that know nothing of the segment. The population marginal is what people "
        "answered who are not in the segment. “Shuffled” mixes up a model's own predictions within each question: a "
        "model that does not know which segment is which scores as well then."
    ),
    "noise": (
        "So few people were asked that their shares are not those of the population. The “ceiling” is what a "
        "perfect prediction would score on average; the benchmark's own formula is shown beside it. A score is to be "
        "read within the range from the marginal to the ceiling."
    ),
    "intervals": (
        "Respondents are drawn again. That adds their noise a second time, so the plain percentile interval "
        "may miss the score itself; the corrected one is of the score against the true shares."
    ),
    "pairs": (
        "Paired tests, whole questions as clusters, adjusted for the number of pairs. Models that share a "
        "letter are not told apart; “ranks” are those that the tests leave open."
    ),
    "weighting": (
        "Segments count the same in the benchmark, whatever their size. If the ranking changes when larger "
        "segments count more, it hangs on segments that are mostly noise."
    ),
    "fairness": (
        "A gap is the best segment's score less the worst's. It is never negative, and small segments score "
        "lower whatever the model does, so it is compared with what equal accuracy would show. “At equal n” "
        "every segment is thinned to the smallest; the test and the interval of the true gap are of that, with "
        "questions as clusters. “Without noise, these questions” is the published gap against the true shares: only "
        "who was asked varies. p is adjusted over all models and categories."
    ),
    "context": (
        "The change of the score for one more question about the segment in the prompt, within the same "
        "question and segment, with errors clustered by question. “Without noise, these questions” is the slope "
        "against the true shares: only who was asked varies. R² is of the changes within question and segment."
    ),
    "repeats": (
        "How far the same model scores the same again: intraclass correlations, the spread between runs, and "
        "the smallest difference that single runs can show."
    ),
}
