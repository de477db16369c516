"""One policy, one format: what is refused and by which field, what options may do; the schema says the same."""

import json
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay as package
from assay import examples
from assay.certificate.policy_file import policy_content, read_policy
from assay.design import TIERS, Policy
from assay.errors import InputError, UsageError
from assay.limits import COST_LIMITS, GroupLimits, Limits, TotalLimits
from tests.certificate.samples import assay, issue, load
from tests.certificate.schema_subset import Schema, violations

#: The text of a file, the field that the message must name, and what it says of it.
REFUSED: dict[str, tuple[str, str]] = {
    "": ("policy.json", "empty"),
    "[": ("policy.json", "not JSON: it ends too early"),
    "[" * 60_000: ("policy.json", "nested too deeply"),
    '{"note": "' + "x" * 1_000_000 + '"}': ("policy.json", "may have at most 1 MB"),
    "[1]": ("policy.json", "must be an object of fields such as max_ratio, but got [1]"),
    "null": ("policy.json", "must be an object"),
    '{"max_ration": 1.05}': ("max_ration", "no such field; `assay schema policy` lists them"),
    '{"limits": {"max_ratio": 1.05}}': ("limits", "no such field"),
    '{"max_ratio": "1.05"}': ("max_ratio", 'must be a number above 0, but got "1.05"'),
    '{"max_ratio": true}': ("max_ratio", "must be a number above 0, but got true"),
    '{"max_ratio": NaN}': ("max_ratio", "must be a finite number, but got NaN"),
    '{"max_ratio": -Infinity}': ("max_ratio", "must be a finite number, but got -Infinity"),
    '{"max_ratio": 1e999}': ("max_ratio", "must be a finite number"),
    '{"max_ratio": 0}': ("max_ratio", "must be a number above 0, but got 0"),
    '{"max_ratio": 1.05, "max_ratio": 5}': ("max_ratio", "appears twice"),
    '{"max_ratio": ' + "9" * 400 + "}": ("max_ratio", "a number of at most 40 characters, but has 400"),
    '{"max_ratio": 1.' + "0" * 400 + "}": ("max_ratio", "a number of at most 40 characters, but has 402"),
    '{"min_windows": ' + "9" * 5_000 + "}": ("min_windows", "a number of at most 40 characters, but has 5000"),
    '{"max_drop": -0.1}': ("max_drop", "must be a number from 0 up, but got -0.1"),
    '{"min_windows": NaN}': ("min_windows", "must be a finite number"),
    '{"min_windows": 0}': ("min_windows", "must be a whole number from 1 to 1,000,000,000, but got 0"),
    '{"min_windows": 99.5}': ("min_windows", "must be a whole number from 1 to 1,000,000,000, but got 99.5"),
    '{"replicates": 10}': ("replicates", "must be a whole number from 100 to 1,000,000, but got 10"),
    '{"replicates": 1000001}': ("replicates", "must be a whole number from 100 to 1,000,000, but got 1000001"),
    '{"seed": -1}': ("seed", "must be a whole number from 0 to 2^64 - 1, but got -1"),
    '{"level": 95}': ("level", "must be a number from 0.5 to below 1, but got 95"),
    '{"level": 0.3}': ("level", "must be a number from 0.5 to below 1, but got 0.3"),
    '{"tier": "best"}': ("tier", "must be 'balanced', 'conservative' or 'aggressive', but got \"best\""),
    '{"profile": null}': ("profile", "must not be null; leave the field out"),
    '{"lower_is_better": 1}': ("lower_is_better", "must be true or false, but got 1"),
    '{"task": " "}': ("task", 'must be a text that is not blank, but got " "'),
    '{"task": ["a", "b"]}': ("task", "must be a text that is not blank, but got ["),
    '{"metric": {"name": [NaN]}}': ("metric", "must be a text that is not blank, but got {"),
    '{"schema": "assay/policy/9"}': ("schema", "must be 'assay/policy/1'"),
    '{"a\\nb": 1}': ("a\\nb", "no such field"),
}


REFUSED |= {
    '{"each": {"max_dorp": 1}}': ("each.max_dorp", "no such field"),
    '{"each": 0.1}': ("each", "must be an object of fields such as max_drop, but got 0.1"),
    '{"tasks": {}}': ("tasks", "must be an object by the name of a task, but got {}"),
    '{"tasks": {" ": {}}}': ("tasks", "the name of a task must not be blank"),
    '{"tasks": {"arc": {"max_drop": "1"}}}': ("tasks.arc.max_drop", 'must be a number from 0 up, but got "1"'),
    '{"tasks": {"arc": {"min_score": true}}}': ("tasks.arc.min_score", "must be a number, but got true"),
    '{"tasks": {"arc": {"max_price_ratio": 0}}}': ("tasks.arc.max_price_ratio", "must be a number above 0, but got 0"),
    '{"tasks": {"arc": {"max_drop": NaN}}}': ("tasks.arc.max_drop", "must be a finite number, but got NaN"),
    '{"tasks": {"arc": {"max_drop": ' + "9" * 99 + "}}}": ("tasks.arc.max_drop", "a number of at most 40 characters"),
    '{"tasks": {"arc": {"max_drop": 1, "max_drop": 2}}}': ("max_drop", "appears twice"),
    '{"groups": {"g": {"tasks": "arc"}}}': ("groups.g.tasks", 'must be a list of names or patterns, but got "arc"'),
    '{"groups": {"g": {"tasks": [""]}}}': ("groups.g.tasks", "must be a list of names or patterns"),
    '{"groups": {"g": {"groups": {"h": {"x": 1}}}}}': ("groups.g.groups.h.x", "no such field"),
    '{"total": {"weights": "mean"}}': ("total.weights", "must be 'macro', 'items' or 'groups', or an object"),
    '{"total": {"weights": {"arc": -1}}}': ("total.weights.arc", "must be a number from 0 up, but got -1"),
    '{"total": {"weights": {}}}': ("total.weights", "must be an object by the name of a task"),
    '{"total": {"weights": null}}': ("total.weights", "must not be null"),
    '{"every": "true"}': ("every", 'must be true or false, but got "true"'),
}


def written(folder: Path, text: str, name: str = "policy.json") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_a_policy_is_refused_with_its_file_and_field(text: str, tmp_path: Path) -> None:
    field, said = REFUSED[text]
    policy = written(tmp_path, text)
    with pytest.raises(InputError) as refused:
        read_policy(policy)
    message = str(refused.value)
    assert message.startswith(f"{policy}: ")
    assert field in message
    assert said in message
    assert "\n" not in message
    assert len(message) < 600


def test_it_is_the_policys_fault_in_both_verbs_and_nothing_is_written(tmp_path: Path) -> None:
    certificate = issue("losses", tmp_path)
    before = sorted(tmp_path.iterdir())
    policy = written(tmp_path, '{"max_ratio": ' + "9" * 400 + "}")
    for command in (
        ("verify", certificate),
        ("certify", "x.csv", "y.csv", "-o", tmp_path / "new.json"),
        ("report", certificate),
    ):
        assay(*command, "--policy", policy).assert_refused(3, "policy.json: max_ratio: must be a number of at most 40")
    assay("verify", certificate, "--policy", tmp_path / "none.json").assert_refused(3, "none.json", "cannot be opened")
    assay("verify", certificate, "--policy", tmp_path).assert_refused(3, "a directory, not a regular file")
    assert sorted(tmp_path.iterdir()) == sorted([*before, policy])


TOML: dict[str, str] = {
    "max_ratio = nan": "max_ratio: must be a finite number",
    "max_ratio = inf": "max_ratio: must be a finite number",
    "max_ratio = " + "9" * 400: "max_ratio: must be a number of at most 40 characters",
    "max_ratio = 1.05\nmax_ratio = 5": "not TOML",
    "task = 2026-01-01": "task: must be a text that is not blank",
    "[tier]\nname = 1": "tier: must be 'balanced'",
    "max_ratio 1": "not TOML",
}


@pytest.mark.parametrize("text", TOML, ids=range(len(TOML)))
def test_toml_is_read_as_strictly(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=TOML[text]):
        read_policy(written(tmp_path, text, "policy.toml"))


def test_json_and_toml_say_the_same(tmp_path: Path) -> None:
    wanted = Policy(tier="conservative", max_ratio=1.04, level=0.99, lower_is_better=False, task="gsm8k", note="agreed")
    as_json = written(
        tmp_path,
        '\ufeff{"$schema": "policy.schema.json", "schema": "assay/policy/1", "tier": "conservative", "max_ratio": 1.04,'
        '"level": 0.99, "lower_is_better": false, "task": "gsm8k", "note": "agreed"}',
    )
    as_toml = written(
        tmp_path,
        'schema = "assay/policy/1"\ntier = "conservative"\nmax_ratio = 1.04 # of perplexity\nlevel = 0.99\n'
        'lower_is_better = false\ntask = "gsm8k"\nnote = "agreed"\n',
        "policy.toml",
    )
    assert package.read_policy(as_json) == package.read_policy(as_toml) == wanted


@pytest.fixture(scope="module")
def schema() -> Schema:
    ran = assay("schema", "policy")
    assert (ran.code, ran.err) == (0, "")
    found: Schema = json.loads(ran.out)
    return found


def test_a_deep_file_is_refused(tmp_path: Path) -> None:
    text = '{"groups": {"g": ' + '{"groups": {"g": ' * 30 + '{"tasks": ["arc"]}' + "}}" * 31
    with pytest.raises(InputError, match="nested too deeply"):
        read_policy(written(tmp_path, text))


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8).filter(str.strip)
above_0 = st.none() | st.floats(1e-6, 1e6)
limit_fields: dict[str, st.SearchStrategy[Any]] = {
    "max_drop": st.none() | st.floats(0, 1e6),
    "min_score": st.none() | st.floats(-1e6, 1e6),
    **dict.fromkeys(["max_ratio", *COST_LIMITS], above_0),
}
named = texts.filter(lambda name: "/" not in name)
flat = st.builds(GroupLimits, tasks=st.lists(texts, min_size=1, max_size=3, unique=True).map(tuple), **limit_fields)
nested = st.builds(GroupLimits, groups=st.dictionaries(named, flat, min_size=1, max_size=2), **limit_fields)
weights = st.sampled_from([None, "macro", "items", "groups"]) | st.dictionaries(
    texts, st.floats(0, 9), min_size=1, max_size=3
)
of_total = limit_fields | dict.fromkeys(["max_drop", "max_ratio"], st.none())  # which are fields of the policy
policies = st.builds(
    Policy,
    total=st.none() | st.builds(TotalLimits, weights=weights, **of_total),
    each=st.none() | st.builds(Limits, **limit_fields),
    tasks=st.none() | st.dictionaries(texts, st.builds(Limits, **limit_fields), min_size=1, max_size=2),
    groups=st.none() | st.dictionaries(named, flat | nested, min_size=1, max_size=2),
    every=st.none() | st.booleans(),
    tier=st.sampled_from([None, *TIERS]),
    profile=st.sampled_from([None, "dev", "ci", "release"]),
    weights=st.sampled_from([None, "equal", "any"]),
    method=st.sampled_from([None, "auto", "bca", "bca-plain", "percentile"]),
    scheme=st.sampled_from([None, "auto", "tokens", "windows"]),
    max_ratio=st.none() | st.floats(1e-6, 1e6),
    max_drop=st.none() | st.floats(0, 1e6),
    min_windows=st.none() | st.integers(1, 10**9),
    replicates=st.none() | st.integers(100, 10**6),
    seed=st.none() | st.integers(0, 2**64 - 1),
    level=st.none() | st.floats(0.5, 1, exclude_max=True),
    lower_is_better=st.none() | st.booleans(),
    cluster=st.none() | texts,
    task=st.none() | texts,
    metric=st.none() | texts,
    note=st.none() | texts,
)


@given(policies)
def test_every_policy_can_be_written_and_read_and_fits_the_schema(schema: Schema, policy: Policy) -> None:
    content = policy_content(policy)
    assert list(violations(content, schema, schema)) == []
    with TemporaryDirectory() as folder:
        assert read_policy(written(Path(folder), json.dumps(content, ensure_ascii=False))) == policy
        as_yaml = written(Path(folder), json.dumps(content, ensure_ascii=False, indent=1), "policy.yaml")
        assert read_policy(as_yaml) == policy  # JSON is YAML


def test_the_schema_refuses_what_the_reader_refuses(schema: Schema) -> None:
    """But for what no schema can see: the bytes, fields that stand twice, the digits of a number."""
    unseen = ("empty", "not JSON", "nested", "at most 1 MB", "appears twice", "characters", "finite")
    for text, (_, said) in REFUSED.items():
        if not any(word in said for word in unseen):
            assert list(violations(json.loads(text), schema, schema)), text


def test_the_schema_has_every_field_and_says_what_it_means(schema: Schema) -> None:
    names = {field.name for field in fields(Policy)}
    assert set(schema["properties"]) == names | {"$schema", "schema"}
    assert all(len(field["description"]) > 15 for field in schema["properties"].values())
    assert schema["additionalProperties"] is False
    assert "required" not in schema


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_windows": float("nan")},
        {"min_windows": 180.0},
        {"min_windows": True},
        {"min_windows": 10**400},
        {"max_ratio": 10**400},
        {"max_ratio": float("nan")},
        {"max_drop": "0.1"},
        {"replicates": 99},
        {"seed": 2**64},
        {"level": float("nan")},
        {"lower_is_better": 1},
        {"cluster": ""},
        {"task": 7},
        {"tier": "best"},
        {"profile": "prod"},
    ],
)
def test_python_refuses_the_same(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"^{next(iter(wrong))} must be"):
        Policy(**wrong)


STRICTER: list[tuple[Policy, dict[str, Any]]] = [
    (Policy(max_ratio=1.1), {"max_ratio": 1.05}),
    (Policy(tier="balanced"), {"max_ratio": 1.05}),
    (Policy(tier="balanced"), {"tier": "conservative"}),
    (Policy(max_drop=0.02), {"max_drop": 0.0}),
    (Policy(tier="aggressive"), {"min_windows": 141}),
    (Policy(profile="ci"), {"profile": "release"}),
    (Policy(level=0.9), {"level": 0.99}),
    (Policy(replicates=500), {"replicates": 501}),
    (Policy(), {"lower_is_better": True}),
    (Policy(task="gsm8k"), {"task": "gsm8k"}),
    (Policy(task="gsm8k"), {"metric": "acc"}),
    (Policy(seed=3), {"seed": 3}),
]
CONTRADICTIONS: list[tuple[Policy, dict[str, Any]]] = [
    (Policy(max_ratio=1.1), {"max_ratio": 1.2}),
    (Policy(tier="balanced"), {"max_ratio": 1.2}),
    (Policy(tier="balanced"), {"tier": "aggressive"}),
    (Policy(max_drop=0.02), {"max_drop": 0.03}),
    (Policy(tier="conservative"), {"min_windows": 219}),
    (Policy(profile="ci"), {"profile": "dev"}),
    (Policy(level=0.99), {"level": 0.95}),
    (Policy(lower_is_better=False), {"lower_is_better": True}),
    (Policy(task="gsm8k"), {"task": "arc"}),
    (Policy(metric="acc"), {"metric": "f1"}),
    (Policy(cluster="document"), {"cluster": "subject"}),
    (Policy(seed=3), {"seed": 4}),
]


@pytest.mark.parametrize(("policy", "option"), STRICTER)
def test_an_option_may_fill_what_is_open_and_be_stricter(policy: Policy, option: dict[str, Any]) -> None:
    ((name, value),) = option.items()
    assert getattr(policy.with_options(**option), name) == value


@pytest.mark.parametrize(("policy", "option"), CONTRADICTIONS)
def test_an_option_may_not_contradict(policy: Policy, option: dict[str, Any]) -> None:
    ((name, _),) = option.items()
    with pytest.raises(UsageError, match=rf"^{name} .* contradicts the policy, which says"):
        policy.with_options(**option)


def test_on_the_command_line_a_contradiction_is_a_usage_error(tmp_path: Path) -> None:
    certificate = issue("losses", tmp_path)
    policy = written(tmp_path, '{"max_ratio": 1.05, "lower_is_better": false, "task": "text"}')
    for options, said in (
        (("--max-ratio", "1.1"), "max_ratio 1.1 contradicts the policy, which says 1.05"),
        (("--lower-is-better",), "lower_is_better true contradicts the policy, which says false"),
        (("--task", "other"), "task other contradicts the policy, which says text"),
    ):
        assay("verify", certificate, "--policy", policy, *options).assert_refused(2, said)
        files = ("a.csv", "b.csv", "-o", tmp_path / "new.json")
        assay("certify", *files, "--policy", policy, *options).assert_refused(2, said)


def test_certify_by_a_policy_file_is_certify_by_its_options(tmp_path: Path) -> None:
    pair = examples.path("losses-base.csv"), examples.path("losses-int3.csv")
    policy = written(
        tmp_path, '{"tier": "aggressive", "profile": "ci", "max_ratio": 1.15, "cluster": "document", "note": "agreed"}'
    )
    options = ("--tier", "aggressive", "--profile", "ci", "--max-ratio", "1.15", "--cluster", "document")
    by_options = assay("certify", *pair, "-o", tmp_path / "a.json", *options, "--note", "agreed")
    by_file = assay("certify", *pair, "-o", tmp_path / "b.json", "--policy", policy)
    in_python = package.certify(*pair, tmp_path / "c.json", policy=policy).to_dict()
    assert (by_options.code, by_file.code) == (0, 0)
    found = [load(tmp_path / name) for name in ("a.json", "b.json")]
    for document in (*found, in_python):
        del document["evidence"], document["digest"]
    assert found[0] == found[1] == in_python


def test_a_policy_that_differs_from_its_tier_needs_a_note_to_issue_by_but_not_to_verify_by(tmp_path: Path) -> None:
    certificate = issue("losses", tmp_path)
    policy = written(tmp_path, '{"max_ratio": 1.05}')
    said = "max_ratio of the tier balanced changed: say why with --note TEXT, or with a note in the policy"
    assay("certify", "a.csv", "b.csv", "--policy", policy).assert_refused(2, said)
    assert assay("verify", certificate, "--policy", policy).code == 0


def test_notes_of_the_policy_and_of_the_option_are_both_kept() -> None:
    policy = Policy(max_ratio=1.08, note="agreed in May").with_options(max_ratio=1.05, note="release 2")
    assert policy.complete().note == "agreed in May; release 2"


def test_the_page_of_the_policy_has_a_row_for_every_field(schema: Schema) -> None:
    page = (Path(__file__).parents[2] / "docs" / "policy.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    assert {name.strip(" `") for row in rows for name in row.split(",")} == set(schema["properties"])


def test_a_policy_is_never_written_over(tmp_path: Path) -> None:
    pair = examples.path("losses-base.csv"), examples.path("losses-int8.csv")
    policy = written(tmp_path, '{"profile": "dev"}')
    with pytest.raises(UsageError, match=r"policy\.json: cannot be written, as .* is read"):
        package.certify(*pair, policy, policy=policy)
    assay("certify", *pair, "-o", policy, "--policy", policy).assert_refused(2, "is read")
    assert policy.read_text(encoding="utf-8") == '{"profile": "dev"}'
