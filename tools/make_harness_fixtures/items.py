"""The items of every fixture: a few short questions and stories, so that the files stay small."""

import json
from pathlib import Path

#: question, choices, index of the right one, topic
QUESTIONS = (
    ("The cat drinks", (" milk", " stone", " glass"), 0, "animals"),
    ("The dog likes to", (" chase", " boil", " read"), 0, "animals"),
    ("The bird built a", (" nest", " car", " kitchen"), 0, "animals"),
    ("The fish swam in the", (" tree", " pond", " shoe"), 1, "animals"),
    ("The cow gives us", (" shoes", " milk", " books"), 1, "animals"),
    ("The bee makes", (" bread", " honey", " noise"), 1, "animals"),
    ("The frog sat on a green", (" leaf", " moon", " soup"), 0, "animals"),
    ("The spider made a", (" cake", " web", " song"), 1, "animals"),
    ("The sun is very", (" cold", " hot", " wet"), 1, "sky"),
    ("At night we see the", (" sun", " moon", " floor"), 1, "sky"),
    ("The sky is", (" blue", " green", " wooden"), 0, "sky"),
    ("Rain falls from the", (" ground", " clouds", " door"), 1, "sky"),
    ("In winter it is", (" cold", " hot", " late"), 0, "sky"),
    ("The snow is", (" black", " white", " warm"), 1, "sky"),
    ("When it rains we need an", (" apple", " umbrella", " elephant"), 1, "sky"),
    ("Thunder is very", (" loud", " soft", " sweet"), 0, "sky"),
)

STORIES = (
    "Once upon a time, there was a little girl named Lily. She liked to play in the park.",
    "Tom had a big red ball. He kicked the ball up high and it went into a tree.",
    'The dog was sad. He could not find his bone. A bird came and said, "Look under the bed!"',
    "Mom made a cake. It smelled good. Ben wanted to eat it, but it was hot.",
    "One day it rained all day long. The children stayed at home and drew a house.",
    "Sam saw a frog near the pond. The frog jumped into the water with a splash. Sam laughed.",
)


def documents(topic: str | None = None) -> list[dict[str, object]]:
    return [
        {"question": question, "choices": list(choices), "answer": answer, "topic": about}
        for question, choices, answer, about in QUESTIONS
        if topic in (None, about)
    ]


def write_jsonl(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
