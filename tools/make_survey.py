"""Make the shipped survey from respondents of the American National Election Study of 1996.

    python -m tools.make_survey [FOLDER]

statsmodels distributes the respondents (public domain). Half of them are the survey; predictors are fitted on the
other half. See the README beside the files.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

FOLDER = Path(__file__).resolve().parents[1] / "src" / "assay" / "examples" / "survey"
SEED = 1996
CONTEXTS = (1, 4)  # hundreds of respondents that a predictor sees
RUNS = 2
STRENGTH = 25
PENALTY = 2.0

LEANINGS = (
    "Extremely liberal",
    "Liberal",
    "Slightly liberal",
    "Moderate",
    "Slightly conservative",
    "Conservative",
    "Extremely conservative",
)
PARTIES = ("Strong Democrat", "Weak Democrat", "Independent, Democrat", "Independent", "Independent, Republican")
SIDES = ("To the left", "The same", "To the right")


class Respondents:
    """The answers of everybody: codes 0, 1, … of each question, and the segments they belong to."""

    def __init__(self) -> None:
        from statsmodels.datasets import anes96

        data = anes96.load_pandas().data
        column = {name: data[name].to_numpy() for name in data.columns}
        self.questions: dict[str, tuple[str, tuple[str, ...], Codes]] = {}
        self._ask(
            "party",
            "Which party do you identify with?",
            (*PARTIES, "Weak Republican", "Strong Republican"),
            column["PID"],
        )
        for name, text in (("selfLR", "yourself"), ("ClinLR", "Bill Clinton"), ("DoleLR", "Bob Dole")):
            self._ask(name, f"Where would you place {text}, from left to right?", LEANINGS, column[name] - 1)
        self._ask("vote", "Whom do you expect to vote for?", ("Clinton", "Dole"), column["vote"])
        news = np.digitize(column["TVnews"], [1, 3, 5, 7])
        self._ask("news", "On how many days a week do you watch the news on TV?", ("0", "1–2", "3–4", "5–6", "7"), news)
        degrees = ("Up to some high school", "High school", "Some college", "College degree", "Postgraduate")
        self._ask("education", "What is your education?", degrees, np.digitize(column["educ"], [3, 4, 5, 6]))
        incomes = ("Under $15,000", "$15,000–29,999", "$30,000–49,999", "$50,000–74,999", "$75,000 or more")
        self._ask(
            "income", "What is the income of your household?", incomes, np.digitize(column["income"], [11, 16, 20, 22])
        )
        places = ("Under 10,000", "10,000–99,999", "100,000 or more")
        self._ask("place", "How many people live in your place?", places, np.digitize(column["popul"], [10, 100]))
        ages = ("Under 35", "35–49", "50–64", "65 or more")
        self._ask("age", "How old are you?", ages, np.digitize(column["age"], [35, 50, 65]))
        gaps = {name: np.sign(column["selfLR"] - column[name]) + 1 for name in ("ClinLR", "DoleLR")}
        self._ask("toClinton", "Compared with Bill Clinton, where are you?", SIDES, gaps["ClinLR"])
        self._ask("toDole", "Compared with Bob Dole, where are you?", SIDES, gaps["DoleLR"])
        nearer = np.sign(abs(column["selfLR"] - column["ClinLR"]) - abs(column["selfLR"] - column["DoleLR"])) + 1
        self._ask("nearer", "Whose views are nearer to yours?", ("Bill Clinton's", "Both alike", "Bob Dole's"), nearer)
        self.size = len(data)
        self.covariates = {
            name: (column[key] - column[key].mean()) / column[key].std()
            for name, key in (
                ("age", "age"),
                ("education", "educ"),
                ("income", "income"),
                ("place", "logpopul"),
                ("party", "PID"),
            )
        }
        self.segments = self._segments(column)

    def _ask(self, name: str, text: str, options: tuple[str, ...], codes: Any) -> None:
        self.questions[name] = text, options, np.asarray(codes, dtype=np.int64)

    def _segments(self, column: dict[str, Any]) -> dict[str, NDArray[np.bool_]]:
        found: dict[str, NDArray[np.bool_]] = {}
        for name, values in (
            ("age", ("under 35", "35–49", "50–64", "65 or more")),
            ("place", ("small", "medium", "large")),
        ):
            found |= {f"{name}:{value}": self.questions[name][2] == i for i, value in enumerate(values)}
        schools = np.digitize(column["educ"], [4, 5])
        found |= {f"education:{name}": schools == i for i, name in enumerate(("school", "some college", "degree"))}
        earned = np.digitize(column["income"], [14, 20])
        found |= {f"income:{name}": earned == i for i, name in enumerate(("low", "middle", "high"))}
        camps = np.digitize(column["PID"], [2, 5])
        found |= {f"party:{name}": camps == i for i, name in enumerate(("Democrat", "Independent", "Republican"))}
        return found


def shares(codes: Codes, options: int) -> Floats:
    return np.bincount(codes, minlength=options) / max(len(codes), 1)


def survey(people: Respondents, half: NDArray[np.bool_], name: str, prefix: str) -> dict[str, Any]:
    """The answers of some of the respondents in the benchmark's format."""
    questions = {
        prefix + key: {"text": text, "type": "single-select", "options": list(options)}
        for key, (text, options, _) in people.questions.items()
    }
    segments = []
    for label, member in people.segments.items():
        own = member & half
        responses = []
        for key, (_, options, codes) in people.questions.items():
            if label.startswith(f"{key}:"):
                continue  # the question that makes the segments: nothing is to be predicted
            counts = np.bincount(codes[own], minlength=len(options))
            percent = [round(100 * c / int(own.sum()), 1) for c in counts.tolist()]
            responses.append({"questionId": prefix + key, "distribution": percent, "n": int(own.sum())})
        category, _, value = label.partition(":")
        about = {"id": label, "label": value, "attributes": {category: value}, "sampleSize": int(own.sum())}
        segments.append({**about, "responses": responses})
    return {"surveyId": name, "surveyName": name, "questions": questions, "segments": segments}


def logit(codes: Codes, options: int, covariates: Floats, everybody: Floats) -> Floats:
    """(n, options) Fitted probabilities of a ridge-penalised multinomial logit."""
    design = np.column_stack([np.ones(len(codes)), covariates])
    target = np.eye(options)[codes]

    def loss(flat: Floats) -> tuple[float, Floats]:
        slopes = flat.reshape(design.shape[1], options)
        scores = design @ slopes
        scores -= scores.max(axis=1, keepdims=True)
        chance = np.exp(scores)
        chance /= chance.sum(axis=1, keepdims=True)
        ridge = slopes.copy()
        ridge[0] *= 0.01
        value = -float(np.log((chance * target).sum(axis=1) + 1e-300).sum()) + 0.5 * PENALTY * float(
            (ridge * slopes).sum()
        )
        return value, (design.T @ (chance - target) + PENALTY * ridge).ravel()

    fitted = minimize(loss, np.zeros(design.shape[1] * options), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    scores = np.column_stack([np.ones(len(everybody)), everybody]) @ fitted.x.reshape(design.shape[1], options)
    chance = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(chance / chance.sum(axis=1, keepdims=True))


def predictions(people: Respondents, seen: Codes) -> dict[tuple[str, str, str], Floats]:
    """Model, question, segment → shares, from the respondents that were seen."""
    found: dict[tuple[str, str, str], Floats] = {}
    for key, (_, options, codes) in people.questions.items():
        marginal = shares(codes[seen], len(options))
        columns = np.column_stack([values for name, values in people.covariates.items() if name != key])
        chance = logit(codes[seen], len(options), columns[seen], columns[seen])
        for label, member in people.segments.items():
            if label.startswith(f"{key}:"):
                continue
            inside = member[seen]
            own = shares(codes[seen][inside], len(options)) if inside.any() else marginal
            weight = inside.sum() / (inside.sum() + STRENGTH)
            found["marginal", key, label] = marginal
            found["raw", key, label] = own
            found["smoothed", key, label] = weight * own + (1 - weight) * marginal
            found["logit", key, label] = chance[inside].mean(axis=0) if inside.any() else marginal
    return found


def table(people: Respondents, pool: Codes, rng: np.random.Generator) -> str:
    width = max(len(options) for _, options, _ in people.questions.values())
    lines = [",".join(["model", "question", "segment", "context", "run", *(f"option {i + 1}" for i in range(width))])]
    for context in CONTEXTS:
        for run in range(1, RUNS + 1):
            seen = rng.choice(pool, size=min(100 * context, len(pool)), replace=False)
            for (model, key, label), values in predictions(people, seen).items():
                cells = [f"{100 * v:.1f}" for v in values.tolist()] + [""] * (width - len(values))
                lines.append(",".join([model, key, label, str(context), str(run), *cells]))
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> None:
    folder = Path(arguments[0]) if arguments else FOLDER
    people, rng = Respondents(), np.random.default_rng(SEED)
    half = rng.permutation(people.size) < people.size // 2
    for name, chosen, prefix in (("survey", half, ""), ("prior", ~half, "before-")):
        data = survey(people, chosen, f"anes96-{name}", prefix)
        (folder / f"{name}.json").write_text(
            json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8"
        )
    (folder / "predictions.csv").write_text(table(people, np.flatnonzero(~half), rng), "utf-8")
    for file in sorted(folder.glob("*.[jc]s*")):
        print(f"{file.name}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
