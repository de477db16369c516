"""The rules of the English grammar. How they are read is said in ``grammar_engine``."""

RULES: dict[str, tuple[str, ...]] = {
    # --------------------------------------------------------------------------------------------- the frame of a story
    "opening": (
        "{hero}, {hero.trade} aged {hero.age}, {hero+live} in {town}, {setting}. {home}{company}{habit} {weather}",
        "{setting_there} {hero}, {hero.trade} aged {hero.age}. {home}{company}{weather} {habit}",
        (
            "This is a story from {town}, {setting}. {hero}, {hero.trade} aged {hero.age}, {hero+live} there. "
            "{home}{company}{habit}"
        ),
    ),
    "setting": (
        "a town on the river {river}",
        "a village where the river {river} {one+meet} the sea",
        "an island in the river {river}",
        "a harbour at the mouth of the {river}",
    ),
    "setting_there": (
        "In {town}, on the river {river}, {hero+live}",
        "Where the river {river} {one+turn} north {one+lie} the town of {town}, and there {hero+live}",
    ),
    "home": ("{hero.he} {hero+have} {hero.home}. ", "{hero.his} home {one+be} {hero.home}. "),
    "company": ("{each:others:neighbour}",),
    "neighbour": (
        "{it} {it+be} {it.age} years old and {it+live} in {it.home}. ",
        "In {it.home} {it+live} {it}, {it.trade} of {it.age}. ",
        "{it}, {it.trade}, {it+have} {it.home}, and {it.his} age {one+be} {it.age}. ",
    ),
    "habit": (
        "Every {daytime} {hero} {hero+walk} to {goal.the} and {hero+watch} the {crowd}.",
        "Every {daytime} {friend} {friend+visit} {hero} and {friend+ask} for {trifle}.",
        "On market days {hero.he} {hero+sell} {trifle} and {hero+buy} {trifle}.",
    ),
    "closing": (
        "So the {daytime} {one+end}. {each:people:homeward}“{hero.saying},” {hero+say} {hero}. {silence}",
        (
            "At last it {one+be} time to part. {each:people:homeward}In {town} the lamps {many+go} out, and "
            "{silence_small}"
        ),
        "{back:people:homeward}Over the {river} {one+stand} the moon. {silence}",
    ),
    "homeward": (
        "{it} {it+go} home to {it.home} with the {it.thing}. ",
        "{it} {it+take} the {it.thing} and {it+walk} to {it.home}. ",
        "{it.role}, {it}, {it+carry} the {it.thing} to {it.home}. ",
    ),
    "silence": ("Nobody {one+speak}.", "Only the river {river} {one+speak}.", "{town} {one+sleep}."),
    "silence_small": ("nobody {one+speak}.", "only the river {river} {one+speak}.", "{town} {one+sleep}."),
    # --------------------------------------------------------------------------------- scenes that open and close again
    "ledger_1": (
        (
            "{hero} {hero+open} the ledger of {town} and {hero+read} it aloud:\n{each:goods:line}In all that "
            "{one+make} {total} coins."
        ),
        (
            "There {many+be} goods to count at {goal.the}. {friend} {friend+count} them and {friend+write}:\n"
            "{each:goods:line}The sum {one+be} {total} coins."
        ),
    ),
    "ledger_2": (
        (
            "{daypart} {elder} {elder+copy} the ledger without a mistake:\n{each:goods:line}In all that "
            "{one+make} {total} coins, as before."
        ),
        (
            "{daypart} {friend} {friend+read} the ledger again, from the last line to the first:\n{back:goods:"
            "line}The sum {one+be} still {total} coins."
        ),
        (
            "{daypart} {hero} {hero+sell} everything in the ledger. {each:goods:sale}That {one+bring} {hero.him} "
            "{total} coins."
        ),
    ),
    "line": ("- {it} at {it.price} coins\n",),
    "sale": (
        "{b=buyer}{b} {b+pay} {it.sum} coins for {it.the}. ",
        "For {it.sum} coins {it.the} {it+go} to {goal.the}. ",
    ),
    "journey_1": (
        (
            "{daypart} {hero} {hero+leave} {hero.home} and {hero+go} {each:route:stop}and at last to {goal.the}. "
            "{on_the_way}"
        ),
        (
            "The way from {hero.home} to {goal.the} {one+be} long. {hero} {hero+walk} it: {each:route:stop}then "
            "to {goal.the}. {on_the_way}"
        ),
    ),
    "journey_2": (
        (
            "{daypart} {hero} {hero+turn} back. From {goal.the} {hero.he} {hero+go} {back:route:stop}and so home "
            "to {hero.home}."
        ),
        "The same way {one+lead} back from {goal.the}: {back:route:stop}and at the end {one+stand} {hero.home}.",
    ),
    "stop": ("to {it.the}, ",),
    "on_the_way": (
        "On the way {hero.he} {hero+meet} {friend}, and {friend} {friend+say}: “{friend.saying}.”",
        "There {a=animal}{a.a} {a+wait} for {hero.him}.",
        "{weather}",
    ),
    "boxes_1": (
        "{elder} {elder+bring} {first}. {chain:boxes:inside}And in {last.the} {one+lie} the {elder.thing} of {elder}.",
        (
            "In {elder.home} {one+stand} {first}. {elder} {elder+open} {first.the}. {chain:boxes:inside}{elder} "
            "{elder+hide} the {elder.thing} in {last.the}."
        ),
    ),
    "boxes_2": (
        (
            "{daypart} {elder} {elder+put} everything away: the {elder.thing} into {last.the}, {unchain:boxes:"
            "shut}and {first.the} under the bed."
        ),
        (
            "{daypart} {elder} {elder+shut} {last.the} over the {elder.thing}. {unchain:boxes:lock}Then "
            "{elder.he} {elder+lock} {first.the}."
        ),
    ),
    "inside": ("In {it.the} {one+be} {next}. ", "{it.the} {one+hold} {next}. "),
    "shut": ("{next.the} into {it.the}, ",),
    "lock": ("{next.the} {one+go} back into {it.the}. ",),
    "letter_1": (
        (
            "A letter {one+come} from {writer}: “Dear {hero}, the door at {goal.the} has the number {code}. "
            "Knock and say ‘{word}’. {writer.saying}. Yours, {writer}.”"
        ),
        (
            "{writer} {writer+write} to {hero}: “{goal.the}, number {code}. The word is ‘{word}’. Tell nobody. "
            "Yours, {writer}.”"
        ),
    ),
    "letter_2": (
        (
            "{daypart} {hero} {hero+stand} before number {code} at {goal.the}, as the letter {one+say}. {hero.he}"
            " {hero+knock}. “{word},” {hero+say} {hero}, and {writer} {writer+open} the door."
        ),
        (
            "“Number {code} at {goal.the},” {hero+think} {hero}. {hero.he} {hero+find} the door and "
            "{hero+whisper}: “{word}.” Behind the door {writer+laugh} {writer}."
        ),
    ),
    "song_1": (
        "{friend} {friend+know} a song of {town}:\n{refrain}{friend} {friend+sing} it for {elder}.",
        "From {goal.the} {one+come} a song:\n{refrain}It {one+be} {friend} who {friend+sing}.",
    ),
    "song_2": (
        "{daypart} they {many+sing} the song again:\n{refrain}Then it {one+be} quiet.",
        (
            "{daypart} {hero} {hero+remember} the song of {friend} and {hero+hum}:\n{refrain}“{friend.saying},” "
            "{friend+say} {friend}."
        ),
    ),
    "refrain": ("“{singing},\n{answer},\nthe river {river} goes by.”\n",),
    "gifts_1": ("{each:people:shows}", "It {one+be} the day of gifts in {town}. {each:people:shows}{remark}"),
    "shows": (
        "{it} {it+bring} a {it.thing}. ",
        "{it} {it+show} the others a {it.thing}. ",
        "In {it.home} {it} {it+find} a {it.thing}. ",
    ),
    "gifts_2": (
        "{daypart} they {many+count} what they {many+have}. {back:people:still}{quiz}",
        "{each:people:still}Nothing {one+be} lost. {quiz}",
    ),
    "still": ("{it} still {it+have} the {it.thing}. ", "The {it.thing} {one+belong} to {it}. "),
    "animals_1": (
        (
            "{friend} {friend+have} {herd.a}, and {daytime_one} the {herd} {herd+be} gone. {friend} {friend+look}"
            " behind {goal.the}, but there the {herd} {herd+be} not."
        ),
        "Near {goal.the} {herd+live} {herd.a}. The {herd} {herd+belong} to {friend}, and {herd.he} {herd+eat} {food}.",
    ),
    "animals_2": (
        (
            "{daypart} the {herd} of {friend} {herd+come} back to {friend.home}. The {herd} that {hero} "
            "{hero+see} near {goal.the} {herd+be} {state}."
        ),
        (
            "{daypart} {hero} {hero+find} the {herd} that {friend} {friend+have}. The {herd} {herd+run} to "
            "{friend}, and {friend} {friend+give} {herd.him} {food}."
        ),
    ),
    # ---------------------------------------------------------------------------------------------- scenes of their own
    "talk": (
        "{p=any}“{p.saying},” {p+say} {p}. {q=second}{q} {q+think} about it and {q+look} at {goal.the}.",
        "{p=any}{p}, {p.role}, {p+sit} in {p.home} with {p.his} {p.thing}. “{p.saying},” {p.he} {p+say}.",
        "{p=any}{r=second}{q=ware}“How much {q~be} {q.the}?” {p+ask} {p}. “{q.price} coins,” {r+say} {r}.",
    ),
    "hearsay": (
        "{p=any}{p} {p+say} that {claim}. {hearsay_end}",
        "{p=any}In {p.home} {p} {p+hear} that {claim}. {hearsay_end}",
    ),
    "claim": (
        "{p=second}{p} {p+know} that {claim}",
        "{p=second}{p}, who {p+live} in {p.home}, {p+think} that {claim}",
        "{beast} {a+be} {state}",
        "{p=second}{p} {p+have} the {p.thing}",
        "the number at {goal.the} {one+be} {code}",
        "{p=second}{p} {p+be} {p.age} years old",
    ),
    "hearsay_end": ("Nobody {one+ask} why.", "{hero} {hero+believe} it.", "{weather}", "{hero} {hero+smile}."),
    "remark": (
        "{beast} {a+be} {state}. {weather}",
        "{weather} {beast} {a+sleep}.",
        "{p=any}{p} {p+tell} {hero} about {beast_object}.",
    ),
    "beast": (
        "{a=animal}{p=any}the {a} that {p} {p+keep} behind {p.home}",
        "{a=animal}{p=any}the {a} which the children of {p} {many+feed} every {daytime}",
        "{a=animal}{p=any}{q=second}the {a} that {p}, who {p+know} {q}, {p+see} near {goal.the}",
        "{a=animal}the {adjective} {a}",
    ),
    "beast_object": ("{a=animal}{a.a} that {a+be} {state}", "{a=animal}{a.a} from {goal.the}"),
    "quiz": (
        "{p=any}{q=second}{r=third}“Who has the {q.thing}?” {p+ask} {p}. “{q} {q~have} it,” {r+say} {r}.",
        "{p=any}{q=second}{r=third}“How old {q~be} {q}?” {p+ask} {p}. “{q.age},” {r+answer} {r}.",
        "{p=any}{q=second}{r=third}“What {q~do} {q} say?” {p+ask} {p}. “{q.saying},” {r+answer} {r}.",
        "{p=any}{q=second}{r=third}“Where {q~do} {q} live?” {p+ask} {p}. “In {q.home},” {r+say} {r}.",
        "{p=any}{r=second}“What is the name of the town?” {p+ask} {p}. “{town}, on the river {river},” {r+say} {r}.",
    ),
    "sayings": ("{each:people:says}", "{back:people:says}"),
    "says": ("“{it.saying},” {it+say} {it}. ", "{it} {it+say}: “{it.saying}.” "),
    # ------------------------------------------------------------------------------------------------------------ words
    "weather": (
        "The wind {one+come} from the {side}.",
        "It {one+be} a {sky} {daytime}.",
        "Rain {one+fall} on {town}.",
        "There {one+be} snow on the roofs of {town}.",
        "The {river} {one+be} {sky} that {daytime}.",
    ),
    "daypart": (
        "Toward {daytime}",
        "The next {daytime}",
        "{number} days later",
        "When the {daytime} {one+come},",
        "After the rain",
    ),
    "number": ("two", "three", "four", "five", "seven", "ten"),
    "daytime": ("morning", "evening", "night", "noon"),
    "daytime_one": ("one morning", "one evening", "one night"),
    "side": ("north", "south", "east", "west", "sea", "hills"),
    "sky": ("cold", "bright", "grey", "still", "warm", "dark"),
    "state": ("hungry", "afraid", "tired", "asleep", "white as snow", "not for sale", "older than the town"),
    "adjective": ("old", "small", "grey", "black", "quiet", "hungry"),
    "crowd": ("boats", "crows", "children", "clouds", "fishers"),
    "food": ("hay", "bread", "dry leaves", "apples", "grain"),
    "trifle": ("bread", "salt", "tea", "old nails", "honey", "lamp oil", "news", "thread"),
}
