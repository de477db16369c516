"""The Japanese grammar: politeness and tense hold for a story, counters fit nouns, people have ways of speaking."""

from tools.grammar_engine import Dice, Entity, Grammar, Memory, someone_but, words
from tools.grammar_japanese_rules import RULES

TRADES = words(
    "パン屋 織物師 陶工 粉屋 教師 船乗り 庭師 鍛冶屋 医者 大工 漁師 絵描き 印刷屋 仕立屋 羊飼い 料理人 渡し守 時計職人"
)
SAYINGS = (
    "遅い水ほど深く削る",
    "閉じた戸にも鍵はある",
    "井戸は桶を忘れない",
    "灯は一つで二人に足りる",
    "最初の一里がいちばん遠い",
    "パンは客を選ばない",
    "月は家賃を払わない",
    "二度数えて一度切れ",
    "風も待つことがある",
    "借りた舟は水が漏る",
    "川が取ったものは海が持つ",
    "雪は約束をしない",
)
PLACES = words("水車小屋 橋 井戸 市場 港 寺 果樹園 石切り場 渡し場 灯台 宿屋 庭 学校 塔 門")
ADJECTIVES = words("古い 赤い 緑の 壊れた 細い 白い 静かな 曲がった 上の 下の 小さな 焼けた 石の 空の")
COLOURS = words("古い 赤い 青い 白い 黒い 小さな 大きな 丸い 新しい 安い")
MATERIALS = words("銅の 銀の ガラスの 木の 紙の 土の 鉄の 琥珀の 象牙の 革の 錫の")
THINGS = words("鍵 指輪 匙 櫛 笛 ボタン 鏡 鈴 杯 リボン 地図 針 眼鏡 硬貨 太鼓")
GOODS = words(
    "毛布=枚 皿=枚 着物=枚 ろうそく=本 傘=本 筆=本 縄=本 包丁=本 帳面=冊 絵本=冊 茶碗=個 卵=個 林檎=個 籠=個 "
    "靴=足 舟=艘 手紙=通"
)
BOXES = words("長持 行李 箱 引き出し 壺 袋 手箱 缶 小箱 財布 封筒")  # by size
ANIMALS = words("山羊=頭 馬=頭 猫=匹 鼠=匹 鷺=羽 梟=羽 狐=匹 驢馬=頭 牛=頭 鶏=羽 烏=羽 羊=頭 狼=頭 兎=羽 犬=匹")
NUMERALS = words("一 二 三 四 五 六 七 八 九 十 十一 十二")
KANA = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロ"
VOICES = (("私", "です"), ("僕", "だよ"), ("俺", "だぜ"), ("わし", "じゃ"), ("あたし", "だわ"), ("私", "である"))

ICHIDAN = words(
    "いる 見せる 見つける 開ける 閉める 入れる 答える 数える 考える 聞こえる 売れる 片づける かける 訪ねる "
    "信じる 眺める 食べる 消える"
)
# The last kana of the dictionary form: what comes before ます, and what before た.
GODAN = {
    "う": ("い", "った"), "つ": ("ち", "った"), "る": ("り", "った"), "む": ("み", "んだ"), "ぶ": ("び", "んだ"),
    "ぬ": ("に", "んだ"), "く": ("き", "いた"), "ぐ": ("ぎ", "いだ"), "す": ("し", "した"),
}  # fmt: skip
STYLES = ("present", "past", "polite present", "polite past")
IRREGULAR = {
    "だ": ("だ", "だった", "です", "でした"),
    "ない": ("ない", "なかった", "ありません", "ありませんでした"),
    "いない": ("いない", "いなかった", "いません", "いませんでした"),
}


def verb(lemma: str, style: str, _number: str) -> str:
    """The verb as the style asks for it: 行く, 行った, 行きます or 行きました."""
    stem, past = ("", "") if lemma in IRREGULAR else stems(lemma)
    forms = IRREGULAR.get(lemma, (lemma, past, stem + "ます", stem + "ました"))
    return forms[STYLES.index(style)]


def stems(lemma: str) -> tuple[str, str]:
    """What stands before ます, and the plain past."""
    if lemma in ICHIDAN:
        return lemma[:-1], lemma[:-1] + "た"
    for irregular, stem in (("する", "し"), ("くる", "き")):
        if lemma.endswith(irregular):
            return lemma[:-2] + stem, lemma[:-2] + stem + "た"
    before, past = GODAN[lemma[-1]]
    return lemma[:-1] + before, lemma[:-1] + ("った" if lemma.endswith("行く") else past)


def invented(dice: Dice) -> str:
    """A name that nobody has to know."""
    name = "".join(dice.pick(KANA) for _ in range(dice.between(2, 3)))
    return name + dice.pick(("", "", "ン", "ー"))


def suffixes(age: int) -> tuple[str, ...]:
    """How someone of this age is addressed."""
    if age < 30:
        return ("さん", "くん", "ちゃん")
    return ("さん", "先生") if age < 60 else ("さん", "先生", "じいさん", "ばあさん")


def person(dice: Dice, trade: str, saying: str, thing_kept: str) -> Entity:
    name, age, (pronoun, copula) = invented(dice), dice.between(18, 79), dice.pick(VOICES)
    return {
        "": name + dice.pick(suffixes(age)),
        "name": name,
        "I": pronoun,
        "da": copula,
        "trade": trade,
        "age": str(age),
        "saying": saying,
        "thing": dice.pick(MATERIALS) + thing_kept,
        "home": f"{dice.pick(ADJECTIVES)}{dice.pick(PLACES)}の家",
    }


def counted(dice: Dice, noun: str, adjective: str) -> tuple[int, Entity]:
    """A number of things with the counter that the noun asks for."""
    word, _, counter = noun.partition("=")
    count = dice.between(1, 12)
    return count, {"": adjective + word, "a": f"{NUMERALS[count - 1]}{counter}の{adjective}{word}"}


def goods(dice: Dice, noun: str) -> Entity:
    count, entity = counted(dice, noun, dice.pick(COLOURS))
    price = dice.between(2, 60)
    return entity | {"price": str(price), "sum": str(price * count)}


def cast(dice: Dice) -> Memory:
    """Who and what a story is about."""
    size = dice.between(3, 4)
    traits = zip(*(dice.sample(words, size) for words in (TRADES, SAYINGS, THINGS)), strict=True)
    people = [person(dice, *trait) for trait in traits]
    sold = [goods(dice, noun) for noun in dice.sample(GOODS, dice.between(2, 4))]
    places = [{"": dice.pick(ADJECTIVES) + noun} for noun in dice.sample(PLACES, dice.between(3, 5))]
    nested = sorted(dice.sample(BOXES, dice.between(3, 4)), key=BOXES.index)
    boxes = [{"": dice.pick(MATERIALS) + noun} for noun in nested]
    facts = {
        "town": invented(dice) + dice.pick(("町", "村", "島", "の里")),
        "river": invented(dice) + "川",
        "code": str(dice.between(1000, 9999)),
        "word": dice.pick(ADJECTIVES) + dice.pick(THINGS),
        "total": str(sum(int(item["sum"]) for item in sold)),
        "singing": f"{dice.pick(ADJECTIVES)}{dice.pick(PLACES)}、{dice.pick(ADJECTIVES)}{dice.pick(PLACES)}",
        "answer": f"{dice.pick(MATERIALS)}{dice.pick(THINGS)}、{dice.pick(MATERIALS)}{dice.pick(THINGS)}",
    }
    entities = {name: {"": value} for name, value in facts.items()}
    entities |= {"hero": people[0], "friend": people[1], "elder": people[2], "writer": people[-1]}
    entities |= {"goal": places[-1], "first": boxes[0], "last": boxes[-1]}
    entities["herd"] = counted(dice, dice.pick(ANIMALS), "")[1]
    lists = {"people": people, "others": people[1:], "goods": sold, "route": places[:-1], "boxes": boxes}
    return Memory(dice.pick(STYLES), entities, lists)


JAPANESE = Grammar(
    rules=RULES,
    draws={
        "any": someone_but(),
        "buyer": someone_but("hero"),
        "second": someone_but("p"),
        "third": someone_but("p", "q"),
        "animal": lambda dice, _: counted(dice, dice.pick(ANIMALS), "")[1],
        "ware": lambda dice, memory: dice.pick(memory.lists["goods"]),
    },
    cast=cast,
    verb=verb,
    polish=str.strip,
)
