"""Looking more than once: a test that stops when the answer is clear, and keeps its error rate.

- `spending`: how much of the error may be spent by when (Lan and DeMets 1983).
- `paths`: the distribution of a test statistic over several looks, by recursive integration.
- `boundaries`: how far the statistic must be at each look; futility bounds; expected sample sizes.
- `looks`: one look at the units that are there, and where looks fall.
- `stopped`: interval, p-value and estimate after stopping.
- `sequences`: intervals that hold however often one looks, where no maximum is planned.
"""
