"""Write docs/requirements.md: every requirement with the command, the test and the page that answer it.

    python -m tools.requirements            rewrite the tables
    python -m tools.requirements --check    only say whether they differ

`make docs-outputs` does it too. tests/docs/test_requirements.py checks that every command is one that a page runs (and
so CI does), that every test is there, and that every page has its section.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.made_pages import refresh_page

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "requirements.md"
BETWEEN = re.compile(r"(?<=<!-- requirements -->\n).*(?=<!-- end of requirements -->)", re.DOTALL)
BLOCK = re.compile(r"^ *```console[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^ *\$ (.*(?:\n *> .*)*)", re.MULTILINE)
REST = re.compile(r"(; echo \$\?| \| | 2?> ).*", re.DOTALL)  # what a page does with the output

TITLES = {
    "P": "Paired evaluation, and certificates",
    "L": "Language modelling",
    "T": "Adapting a model",
    "S": "Signal or noise in a leaderboard",
    "C": "Corrections of published recipes",
}


@dataclass(frozen=True)
class Requirement:
    """A requirement in one line, and what answers it: a command, a test (below tests/) and a section of a page."""

    code: str
    text: str
    command: str
    test: str
    page: str


COMPARE = "assay compare losses-base.csv losses-int3.csv"
GATE = "assay certify losses-base.csv losses-int8.csv -o int8.json --profile ci --cluster document"
VERIFY = "assay verify gate.json"
SCORE = (
    "assay score models/base models/en.txt --and models/int8 --and models/int3 --split-on '\\n\\n' --context 128 "
    "--windows 60x60 -o runs"
)
CONTEXT = "assay context long/base long/int3 --axis linear --show perplexity --chart long.svg"
TUNE = "assay tune lora-? lora-embeddings-? full-? *-rates"
TARGETS = "assay tune lora-? lora-embeddings-? full-? --targets japanese"
JAPANESE = "assay japanese models/base stories.txt --and models/int3 --split-on '\\n\\n' --chart scripts.svg"
GENERATIONS = "assay japanese generations.csv"
SURVEY = "assay survey survey.json predictions.csv --prior prior.json --only scores,baselines,noise,intervals,pairs"
FAIRNESS = "assay survey survey.json predictions.csv --only fairness"
RANK = "assay rank scores-base.csv scores-bigram.csv scores-int3.csv scores-trigram.csv"
PLAIN = (
    "assay certify losses-base.csv losses-int3.csv -o plain.json --method bca-plain --scheme tokens "
    '--note "as published" -v'
)
SIGNAL = "assay survey survey.json predictions.csv --only weighting,context -o signal"

COMPARED, CERTIFIED = "analyses/compare/test_compare.py", "certificate/test_intervals.py"
TUNED, SURVEYED = "analyses/tune", "analyses/survey"

TABLE = tuple(
    Requirement(*row)
    for row in (
        ("P1", "Windows with id, tokens and mean log-loss per system; what is not predicted never counts", SCORE,
         "scoring/test_windows.py::test_each_token_is_predicted_once_and_the_right_ones_never_against_the_specification",
         "score.md#every-token-once"),
        ("P2", "The ratio is exp of the token-weighted mean difference, never a ratio of means", COMPARE,
         f"{COMPARED}::test_the_two_window_example_is_1_0217_and_not_the_naive_1_12", "intervals.md#what-is-estimated"),
        ("P3", "Paired BCa interval of windows drawn ∝ tokens; replicates and seed recorded", PLAIN,
         f"{CERTIFIED}::test_the_published_interval_by_hand", "policy.md#method-and-scheme"),
        ("P4", "Equal differences, or one pair: marked degenerate, collapsed interval, recorded", COMPARE,
         "certificate/test_decide.py::test_equal_differences_give_a_collapsed_interval_and_a_gate_that_works",
         "intervals.md#degenerate-cases"),
        ("P5", "No acceleration: percentile interval, recorded", COMPARE,
         "stats/bootstrap/test_bootstrap.py::test_undefined_acceleration_falls_back_to_percentile",
         "intervals.md#degenerate-cases"),
        ("P6", "Equal token counts give the plain mean and the same numbers", COMPARE,
         f"{COMPARED}::test_p6_equal_tokens_give_the_same_numbers_as_no_tokens", "intervals.md#what-is-resampled"),
        ("P7", "The fields of a certificate, in both spellings", GATE,
         "certificate/test_build.py::test_every_field_of_the_requirements_is_there_in_both_spellings",
         "certificate-fields.md#the-fields"),
        ("P8", "Identities between fields hold in the printed digits, and are checked", VERIFY,
         "certificate/test_build.py::test_identities_hold_in_the_printed_digits", "verify.md#what-is-checked"),
        ("P9", "All windows pair, none overlap; ci and release refuse what dev reports",
         "assay certify losses-base.csv losses-int8.csv -o strict.json --tier conservative --profile ci",
         "certificate/test_rules.py::test_strict_profiles_refuse_with_the_rule_and_by_how_much_and_write_nothing",
         "gate-in-ci.md#4-tiers-profiles-overrides"),
        ("P10", "Tiers with minima and replicates; other numbers need an audit note",
         "assay certify losses-base.csv losses-int8.csv -o loose.json --max-ratio 1.5",
         "certificate/test_rules.py::test_a_changed_number_of_the_tier_needs_a_note",
         "gate-in-ci.md#4-tiers-profiles-overrides"),
        ("P11", "Drift from preview to final windows, with an interval", GATE,
         "certificate/test_drift.py::test_equal_tokens_against_scipys_welch_test",
         "differences.md#drift-is-judged-against-its-own-noise"),
        ("P12", "The ratio is a weighted geometric mean, so at most the arithmetic one", COMPARE,
         f"{COMPARED}::test_the_ratio_is_the_weighted_geometric_mean_so_at_most_the_arithmetic_one",
         "intervals.md#what-is-estimated"),
        ("L1", "Perplexity is exp of the mean negative log-probability",
         "assay summarize losses-base.csv losses-int3.csv losses-trigram.csv --cluster document",
         f"{COMPARED}::test_probabilities_0_2_0_1_0_4_have_perplexity_5", "intervals.md#what-is-estimated"),
        ("L2", "Cross-entropy without ignored labels, summed over tokens and divided once", SCORE,
         "scoring/test_hf.py::test_losses_against_a_plain_forward_loop", "score.md#what-is-scored"),
        ("L3", "Bits per character and byte, for models whose tokenizers differ", COMPARE,
         f"{COMPARED}::test_bits_per_byte_and_per_character_by_hand", "score.md#models-with-different-tokenizers"),
        ("L4", "Loss and perplexity by position, per model with bands, and two models compared", CONTEXT,
         "analyses/context/test_context.py::test_difference_by_bin_against_numpy_over_all_tokens",
         "context.md#the-figure"),
        ("T1", "Total and trainable parameters, their ratio, the reduction", TUNE,
         f"{TUNED}/test_arms.py::test_the_parameters_of_the_shipped_arms_in_closed_form", "tune.md#memory-and-time"),
        ("T2", "Memory by part; allocated, reserved, peak and inference on a GPU, resident set on a CPU", TUNE,
         "training/test_parameters.py::test_bytes_of_parts_in_closed_form", "tune.md#memory-and-time"),
        ("T3", "Time, steps and tokens per second, steps to 95 % of the improvement", TUNE,
         f"{TUNED}/test_curves.py::test_an_exponential_fall_reaches_95_percent_at_three_time_constants",
         "tune.md#memory-and-time"),
        ("T4", "Convergence: smoothed and final loss, stability, plateau, overfitting", TUNE,
         f"{TUNED}/test_curves.py::test_stability_is_the_sources_formula", "tune.md#convergence"),
        ("T5", "Gradient norms: variance, spikes, a verdict", TUNE,
         f"{TUNED}/test_curves.py::test_spikes_are_found_where_they_were_put", "tune.md#convergence"),
        ("T6", "Sensitivity to the learning rate: std/mean over rates that were trained, divisor named",
         "assay tune lora-0 lora-embeddings-0 full-0 *-rates",
         f"{TUNED}/test_arms.py::test_sensitivity_is_standard_deviation_over_mean", "tune.md#convergence"),
        ("T7", "Character accuracy on Japanese text", JAPANESE,
         "scoring/test_characters.py::test_the_shipped_model_against_the_literal_loop",
         "japanese.md#what-counts-as-right"),
        ("T8", "The same by script: hiragana, katakana, kanji, other", JAPANESE,
         "analyses/japanese/test_text_panel.py::test_scripts_add_up_to_all_characters", "japanese.md#scripts"),
        ("T9", "A model answers prompts; BLEU of the corpus and of sentences, chrF, error rate",
         "assay japanese models/base models/int3 some.jsonl --max-tokens 24 -o said.jsonl",
         "stats/test_text_bleu.py::test_bleu_against_sacrebleu", "japanese.md#prompts"),
        ("T10", "PEFT against full fine-tuning, and each against its base: perplexity; parameters, memory, time", TUNE,
         f"{TUNED}/test_contrasts.py::test_ratios_are_exponentials_of_mean_log_differences_by_hand",
         "tune.md#significance-text-and-seeds"),
        ("T11", "Significance: paired t-test, effect size, interval", TUNE,
         f"{TUNED}/test_contrasts.py::test_seeds_in_pairs_against_scipy", "tune.md#significance-text-and-seeds"),
        ("T12", "What is logged at every step, at every 100, at every 500 and at the end", TUNE,
         "training/test_recorder.py::test_the_periods_of_t12", "tune.md#training-a-run"),
        ("T13", "A report: executive summary, metrics, statistics, Japanese, recommendations", TUNE,
         f"{TUNED}/test_result.py::test_markdown_has_every_section_and_stays_text",
         "tune.md#the-experiment-that-ships"),
        ("T14", "Grades of perplexity, and targets of perplexity, parameters, memory, time and accuracy", TARGETS,
         f"{TUNED}/test_criteria.py::test_the_japanese_targets_are_those_of_the_source", "tune.md#targets"),
        ("T15", "Criteria of success, primary and secondary", TARGETS,
         f"{TUNED}/test_criteria.py::test_a_target_that_the_value_meets_and_the_interval_does_not_is_not_met",
         "tune.md#targets"),
        ("S1", "Scores 1 − √JSD of questions, segments and overall; gaps, slopes; small segments warned of", SURVEY,
         "stats/survey/test_survey.py::test_divergence_against_scipy", "survey.md#scores"),
        ("S2", "Baselines: uniform, population, shuffled, prior round", SURVEY,
         f"{SURVEYED}/test_core.py::test_shuffled_nulls_against_a_literal_twin", "survey.md#baselines"),
        ("S3", "Uncertainty of the truth, from every question × segment up to every number",
         "assay survey survey.json predictions.csv --only cells --threshold 0.9 -o cells",
         "stats/survey/test_respondents.py::test_draws_against_the_multinomial_distribution",
         "survey.md#every-question-and-segment"),
        ("S4", "Repeated runs: ICC, noise, rank stability, detectable difference", "assay reliability runs-sampled.csv",
         "stats/test_reliability.py::test_intraclass_against_pingouin", "reliability.md#detectable-difference"),
        ("S5", "All pairs: permutation, Wilcoxon, t; Holm, Benjamini-Hochberg; tiers", RANK,
         "stats/test_multiplicity.py::test_holm_against_statsmodels", "rank.md#the-tests"),
        ("S6", "Noise of a question from k and n, with or without a survey; the share above a threshold",
         "assay power --survey",
         "analyses/power/test_survey_noise.py::test_the_grid_is_the_published_one_and_its_numbers_stand_beside_ours",
         "power.md#a-survey-how-high-can-a-score-get"),
        ("S7", "Segments weighted otherwise: does the ranking change?", SIGNAL,
         f"{SURVEYED}/test_order.py::test_an_order_that_weights_turn_is_reported",
         "survey.md#which-models-can-be-told-apart"),
        ("S8", "Is a fairness gap more than noise? By our test, and by three published ones", FAIRNESS,
         "stats/survey/test_published.py::test_permutations_against_enumeration",
         "survey-fairness.md#what-is-done"),
        ("S9", "Slopes of context with R², p and interval", SIGNAL,
         f"{SURVEYED}/test_context_levels.py::test_slopes_against_statsmodels_clustered_ols",
         "survey-fairness.md#slopes-in-context"),
        ("S10", "The benchmark's own files are read; JSON, Markdown and sentences for a paper are written",
         "assay survey survey.json predictions.csv --only baselines,fairness,intervals,repeats -o paper",
         f"{SURVEYED}/test_paper.py::test_ready_to_paste_without_tags_and_escapes", "survey.md#for-a-paper"),
        ("S11", "Where the signal is weak: what to do, coarser segments, a lower temperature",
         "assay survey survey.json predictions.csv --merge coarser.csv --only scores,intervals --by category",
         f"{SURVEYED}/test_advice.py::test_advice_follows_from_the_numbers", "survey.md#coarser-segments"),
        ("C1", "Noise of √JSD: the ceiling of a perfect prediction, by the χ distribution", SURVEY,
         "stats/survey/test_survey.py::test_chi_noise_against_the_mean_of_scipys_chi", "survey.md#noise"),
        ("C2", "A gap is tested against the gap that equal accuracy would show at these sizes", FAIRNESS,
         f"{SURVEYED}/test_fairness.py::test_a_perfect_model_shows_a_gap_that_is_not_taken_for_unfair",
         "survey-fairness.md#why-not-the-obvious-tests"),
        ("C3", "Resampling noisy counts adds their noise twice: corrected", SURVEY,
         f"{SURVEYED}/test_core.py::test_corrected_intervals_hold_where_percentiles_do_not", "survey.md#intervals"),
        ("C4", "Windows drawn uniformly where token counts vary; certificates state both intervals",
         "assay certify losses-base.csv losses-int3.csv -o gate.json --cluster document -v",
         "stats/test_units.py::test_token_draws_understate_the_variance_by_the_design_effect",
         "differences.md#token-weighted-draws"),
        ("C5", "The interval of a paired difference, and effect sizes by name", COMPARE,
         f"{TUNED}/test_contrasts.py::test_the_published_recipe_against_scipy",
         "differences.md#the-interval-of-a-paired-difference"),
        ("C6", "Losses are summed over predicted tokens, not batch means times lengths", SCORE,
         "training/test_fit.py::test_the_validation_loss_is_weighted_by_tokens", "differences.md#the-loss-of-a-batch"),
        ("C7", "Characters are aligned, not zipped", "assay japanese two.csv --bleu char",
         "stats/test_text_alignment.py::test_one_insertion_leaves_all_else_right",
         "differences.md#characters-that-a-model-gets-right"),
        ("C8", "p is never 0, adjusted values are monotone, clusters are drawn whole", RANK,
         "stats/test_multiplicity.py::test_adjusted_values_are_monotone_and_no_smaller", "differences.md#p-values"),
        ("C9", "The population marginal leaves the segment's people out", SURVEY,
         f"{SURVEYED}/test_respondents.py::test_left_out_is_what_the_other_people_answered_by_hand",
         "differences.md#a-population-marginal-without-the-people"),
    )
)  # fmt: skip


def plain(command: str) -> str:
    """A command on one line, without what a page does with its output."""
    return REST.sub("", re.sub(r"\s*\\?\n *> *", " ", command)).strip()


def commands_of(page: str) -> set[str]:
    """The commands that a page runs."""
    return {plain(command) for block in BLOCK.findall(page) for command in COMMAND.findall(block)}


def tables() -> str:
    """The tables of the page, one for each letter."""
    return "\n" + "\n".join(_table(letter, title) for letter, title in TITLES.items())


def _table(letter: str, title: str) -> str:
    rows = "\n".join(_row(one) for one in TABLE if one.code.startswith(letter))
    return f"## {title}\n\n| | what | command | test | page |\n| --- | --- | --- | --- | --- |\n{rows}\n"


def _row(one: Requirement) -> str:
    file, _, name = one.test.partition("::")
    command = one.command.replace("|", "\\|")
    return f"| {one.code} | {one.text} | `{command}` | `{file}` `{name}` | [{one.page}]({one.page}) |"


def rewritten(page: str) -> str:
    return BETWEEN.sub(lambda _: tables() + "\n", page)


def refresh(*, check: bool) -> int:
    """Rewrite the page, or only say that it differs; 1 if something is left to do."""
    return refresh_page(PAGE, rewritten, check=check)


if __name__ == "__main__":
    sys.exit(refresh(check="--check" in sys.argv))
