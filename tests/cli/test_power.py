"""`assay power`: the record of the library on stdout, a chart in a file, refusals as one line with their exit code."""

import json
from pathlib import Path

import pytest

from assay import examples
from assay.analyses.power import power
from assay.analyses.power.result import Power
from assay.analyses.power.survey_noise import SurveyNoise, SurveyPlan
from assay.stats.planning.plans import Goal, Shares, Spread, Structure
from tests.cli.command import SCORES, Shell

A, B = str(examples.path("scores-base.csv")), str(examples.path("scores-trigram.csv"))


def test_numbers_are_the_record_of_the_library(shell: Shell) -> None:
    ran = shell("power", "--sd", "0.145", "--difference", "0.02")
    assert (ran.exit_code, ran.err) == (0, "")
    assert ran.out == str(power(Spread(sd=0.145), difference=0.02)) + "\n"
    assert ran.out.startswith("415 items detect a difference of 0.02 with 80% power.\n")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--sd-a 1 --sd-b 2 --correlation 0.5 --items 99", power(Spread.of_arms(1, 2, 0.5), items=99)),
        (
            "--p-a 0.7 --p-b 0.75 --correlation 0.5 --power 0.9",
            power(Shares(p_a=0.7, correlation=0.5), difference=0.75 - 0.7, goal=Goal(power=0.9)),
        ),
        (
            "--discordant 0.2 --items 300 --difference 0.05 --level 0.9",
            power(Shares(discordant=0.2), items=300, difference=0.05, goal=Goal(level=0.9)),
        ),
        (
            "--sd 0.4 --cluster-size 5 --icc 0.1 --repeats 4 --sd-within 0.2 --difference 0.05 --comparisons 6",
            power(
                Spread(sd=0.4, structure=Structure(cluster_size=5, icc=0.1, repeats=4, sd_within=0.2)),
                difference=0.05,
                goal=Goal(comparisons=6),
            ),
        ),
        ("--sd 1 --margin 0.2", power(Spread(sd=1.0), goal=Goal(margin=0.2))),
    ],
)
def test_options_are_the_arguments_of_the_library(shell: Shell, options: str, expected: Power) -> None:
    ran = shell("power", *options.split(), "--json")
    assert Power.from_dict(json.loads(ran.out)) == expected


def test_a_pilot_may_be_named_in_two_ways(shell: Shell) -> None:
    first = shell("power", A, B, "--difference", "0.02", "--json")
    second = shell("power", "--pilot", A, B, "--difference", "0.02", "--json")
    assert first == second
    assert Power.from_dict(json.loads(first.out)) == power(A, B, difference=0.02)


def test_one_file_with_two_models(shell: Shell) -> None:
    runs = str(examples.path("runs-sampled.csv"))
    ran = shell("power", "--pilot", runs, "--a", "base", "--b", "int3", "--items", "500", "--repeats", "1", "--json")
    assert Power.from_dict(json.loads(ran.out)) == power(runs, items=500, models=("base", "int3"), repeats=1)


@pytest.mark.parametrize(("name", "magic"), [("c.svg", b"<svg"), ("c.png", b"\x89PNG")])
def test_chart_is_written_beside_the_text(shell: Shell, name: str, magic: bytes) -> None:
    ran = shell("power", A, B, "--difference", "0.02", "--chart", name)
    assert (ran.exit_code, ran.err) == (0, f"Chart: {name}\n")
    assert Path(name).read_bytes().startswith(magic)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ("", ["--sd", "--discordant", "a pilot"]),
        ("--sd 1", ["a difference", "or items"]),
        ("--sd -1 --difference 1", ["sd must be positive", "-1"]),
        ("--sd 1 --sd-a 1 --difference 1", ["--sd and --sd-a and --sd-b"]),
        ("--sd 1 --correlation 0.5 --difference 1", ["leave out one"]),
        ("--sd-a 1 --sd-b 1 --difference 1", ["give all three"]),
        ("--sd-a 1 --sd-b 1 --correlation 1.5 --difference 1", ["correlation must be between -1 and 1"]),
        ("--sd 1 --difference 1 --level 1.2", ["level"]),
        ("--sd 1 --difference 1 --power 1.2", ["power"]),
        ("--sd 1 --difference 0", ["must not be 0"]),
        ("--sd 1 --difference 0.1 --items 50 --power 0.9", ["--power"]),
        ("--sd 1 --difference 0.1 --cluster-size 5", ["--cluster-size and --icc"]),
        ("--sd 1 --difference 0.1 --repeats 5", ["--repeats and --sd-within"]),
        ("--p-a 0.5 --p-b 0.6", ["correlation or the discordant share"]),
        ("--p-a 0.5 --p-b 0.6 --difference 0.1 --correlation 0.5", ["--p-b"]),
        ("--p-b 0.6 --discordant 0.2", ["--p-b is the share beside --p-a"]),
        ("--p-a 0.5 --p-b 1.6 --discordant 0.2", ["p_b must be between 0 and 1"]),
        ("--sd 1 --difference 0.1 --a base", ["of a pilot"]),
        ("--sd 1 --difference 0.1 --chart c.gif", [".svg, .png or .pdf"]),
        (f"{A} {B} {A} --difference 0.1", ["one file or two, but got 3"]),
        (f"{A} {B} --sd 1 --difference 0.1", ["--sd is a number that the pilot gives"]),
        (f"{A} --difference 0.1", ["two files"]),
        (f"{A} {B}", ["not a plan"]),
    ],
)
def test_misuse_is_refused(shell: Shell, options: str, parts: list[str]) -> None:
    shell.assert_refused("power", *options.split(), exit_code=2, parts=parts)


def test_pilots_that_cannot_be_used_are_refused(shell: Shell) -> None:
    shell.assert_refused("power", "none.csv", B, "--difference", "0.1", parts=["none.csv", "no such file"])
    same = shell.write("s.csv", SCORES)
    shell.assert_refused("power", same, same, "--difference", "0.1", parts=["same difference everywhere"])


def test_survey_is_the_record_of_the_library(shell: Shell) -> None:
    assert shell("power", "--survey").out == str(power(SurveyPlan())) + "\n"
    ran = shell("power", "--survey", "--options", "2,7", "--respondents", "15", "--json")
    assert SurveyNoise.from_dict(json.loads(ran.out)) == power(SurveyPlan(options=[2, 7], respondents=[15]))
    ran = shell("power", "--survey", "--shares", "80,15,5", "--respondents", "40", "--json")
    assert SurveyNoise.from_dict(json.loads(ran.out)) == power(SurveyPlan(shares=[80, 15, 5], respondents=[40]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--survey --sequential", "leave one of them out"),
        ("--sd 1 --difference 0.1 --looks 3", "add --sequential"),
        ("--survey --sd 1", "--survey takes --options, --respondents and --shares"),
        ("--options 3", "add --survey"),
        ("--survey --respondents many", "must be whole numbers with commas between them, but got 'many'"),
        ("--survey --shares a,b", "--shares must be numbers"),
        ("--survey --options 1", "--options must be whole numbers from 2 to 100, but got 1"),
    ],
)
def test_a_survey_that_makes_no_sense_is_refused(shell: Shell, options: str, message: str) -> None:
    ran = shell("power", *options.split())
    assert ran.exit_code == 2
    assert message in " ".join(ran.err.split())
