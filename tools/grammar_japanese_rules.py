"""The rules of the Japanese grammar. How they are read is said in ``grammar_engine``."""

RULES: dict[str, tuple[str, ...]] = {
    # --------------------------------------------------------------------------------------------- the frame of a story
    "opening": (
        (
            "{town}は{setting}{+だ}。そこに{hero}という{hero.age}歳の{hero.trade}が{+いる}。{home}{company}"
            "{habit}{weather}"
        ),
        (
            "{river}のほとりの{town}に、{hero.trade}の{hero}が住んで{+いる}。{hero}は{hero.age}歳{+だ}。{home}"
            "{company}{weather}{habit}"
        ),
        (
            "これは{town}の話{+だ}。{town}は{setting}{+だ}。{hero}は{hero.age}歳の{hero.trade}{+だ}。{home}"
            "{company}{habit}"
        ),
    ),
    "setting": ("{river}の岸にある町", "{river}が海に出るところ", "{river}の中にある島", "{river}の河口の港"),
    "home": ("家は{hero.home}{+だ}。", "{hero}は{hero.home}に住んで{+いる}。"),
    "company": ("{each:others:neighbour}",),
    "neighbour": (
        "{it}は{it.age}歳の{it.trade}で、{it.home}に住んで{+いる}。",
        "{it.home}には{it}が{+いる}。仕事は{it.trade}、年は{it.age}歳{+だ}。",
        "{it.trade}の{it}は{it.age}歳で、家は{it.home}{+だ}。",
    ),
    "habit": (
        "{every}{hero}は{goal}まで歩いて、{crowd}を{+眺める}。",
        "{every}{friend}は{hero}を{+訪ねる}。そして{trifle}を{+頼む}。",
        "市の日には、{hero}は{trifle}を売って、{trifle}を{+買う}。",
    ),
    "closing": (
        "こうして{daytime}が{+終わる}。{each:people:homeward}「{hero.saying}」と{hero}は{+言う}。{silence}",
        "とうとう別れの時が{+くる}。{each:people:homeward}{town}の灯が{+消える}。{silence}",
        "{back:people:homeward}{river}の上に月が{+昇る}。{silence}",
    ),
    "homeward": (
        "{it}は{it.thing}を持って、{it.home}へ{+帰る}。",
        "{it.trade}の{it}は、{it.thing}を{it.home}に持って{+帰る}。",
        "{it.home}へ帰る{it}の手には、{it.thing}が{+ある}。",
    ),
    "silence": ("{river}の音だけが{+聞こえる}。", "{town}は静か{+だ}。", "{town}は眠りに{+つく}。"),
    # --------------------------------------------------------------------------------- scenes that open and close again
    "ledger_1": (
        "{hero}は{town}の帳簿を開いて、声に出して{+読む}。\n{each:goods:line}合わせて{total}文{+だ}。",
        "{goal}に品物が{+届く}。{friend}はそれを数えて、帳簿に{+書く}。\n{each:goods:line}合計は{total}文{+だ}。",
    ),
    "ledger_2": (
        "{daypart}、{elder}は帳簿を間違えずに{+写す}。\n{each:goods:line}合わせて{total}文、前と同じ{+だ}。",
        "{daypart}、{friend}は帳簿を終わりから{+読み返す}。\n{back:goods:line}合計はやはり{total}文{+だ}。",
        "{daypart}、{hero}は帳簿の品をみな{+売る}。{each:goods:sale}全部で{total}文に{+なる}。",
    ),
    "line": ("・{it.a}、一つ{it.price}文\n",),
    "sale": ("{b=buyer}{b}は{it}に{it.sum}文を{+払う}。", "{it}は{it.sum}文で{+売れる}。"),
    "journey_1": (
        "{daypart}、{hero}は{hero.home}を出て、{each:route:stop}とうとう{goal}に{+着く}。{on_the_way}",
        "{hero.home}から{goal}までは長い道{+だ}。{hero}は{each:route:stop}{goal}まで{+歩く}。{on_the_way}",
    ),
    "journey_2": (
        "{daypart}、{hero}は来た道を{+戻る}。{goal}を出て、{back:route:stop}{hero.home}に{+帰る}。",
        "{daypart}、{hero}は同じ道を{goal}から{+引き返す}。{back:route:stop}{hero.home}に{+着く}。",
    ),
    "stop": ("{it}を通り、",),
    "on_the_way": (
        "道で{hero}は{friend}に{+会う}。「{friend.saying}」と{friend}は{+言う}。",
        "{a=animal}そこには{a.a}が{+いる}。",
        "{weather}",
    ),
    "boxes_1": (
        "{elder}は{first}を{+持ってくる}。{chain:boxes:inside}そして{last}の中に、{elder}の{elder.thing}が{+ある}。",
        (
            "{elder.home}に{first}が{+ある}。{elder}はそれを{+開ける}。{chain:boxes:inside}{elder}は{elder.thing}"
            "を{last}に{+隠す}。"
        ),
    ),
    "boxes_2": (
        (
            "{daypart}、{elder}はすべてを{+片づける}。{elder.thing}を{last}に{+入れる}。{unchain:boxes:shut}"
            "最後に{first}の鍵を{+かける}。"
        ),
        "{daypart}、{elder}は{elder.thing}を{last}に{+しまう}。{unchain:boxes:shut}それから{first}を{+閉める}。",
    ),
    "inside": ("{it}の中には{next}が{+ある}。", "{it}を開けると、{next}が出て{+くる}。"),
    "shut": ("{next}を{it}に{+戻す}。",),
    "letter_1": (
        (
            "{writer}から手紙が{+届く}。「{hero}へ。{goal}の戸は{code}番{writer.da}。戸をたたいて『{word}"
            "』と言うこと。{writer.saying}。{writer.name}より」"
        ),
        "{writer}は{hero}に手紙を{+書く}。「{goal}、{code}番。合い言葉は『{word}』{writer.da}。{writer.name}より」",
    ),
    "letter_2": (
        (
            "{daypart}、{hero}は手紙のとおり、{goal}の{code}番の戸の前に{+立つ}。「{word}」と{hero}は{+言う}。"
            "すると{writer}が戸を{+開ける}。"
        ),
        (
            "{daypart}、{hero}は{goal}で{code}番の戸を{+見つける}。小さな声で「{word}」と{+言う}。"
            "戸の向こうで{writer}が{+笑う}。"
        ),
    ),
    "song_1": (
        "{friend}は{town}の歌を{+歌う}。\n{refrain}{elder}は黙って{+聞く}。",
        "{goal}から歌が{+聞こえる}。\n{refrain}歌っているのは{friend}{+だ}。",
    ),
    "song_2": (
        "{daypart}、みなでもう一度その歌を{+歌う}。\n{refrain}それから静かに{+なる}。",
        "{daypart}、{hero}は{friend}の歌を{+思い出す}。\n{refrain}「{friend.saying}」と{friend}は{+言う}。",
    ),
    "refrain": ("「{singing}\n{answer}\n{river}は流れる」\n",),
    "gifts_1": ("{each:people:shows}", "今日は{town}の贈り物の日{+だ}。{each:people:shows}{remark}"),
    "shows": (
        "{it}は{it.thing}を{+持ってくる}。",
        "{it}はみなに{it.thing}を{+見せる}。",
        "{it}は{it.home}で{it.thing}を{+見つける}。",
    ),
    "gifts_2": (
        "{daypart}、みなは持っているものを{+数える}。{back:people:still}{quiz}",
        "{each:people:still}なくなったものは一つも{+ない}。{quiz}",
    ),
    "still": ("{it}はまだ{it.thing}を持って{+いる}。", "{it.thing}は{it}のもの{+だ}。"),
    "animals_1": (
        (
            "{friend}は{herd.a}を飼って{+いる}。ところが{daytime_one}、その{herd}が{+いなくなる}。{friend}"
            "は{goal}の裏を{+探す}。"
        ),
        "{goal}のそばに{herd.a}が{+いる}。{herd}は{friend}のもので、{food}を{+食べる}。",
    ),
    "animals_2": (
        "{daypart}、{friend}の{herd}が{friend.home}に{+戻る}。{friend}は{herd}に{food}を{+やる}。",
        (
            "{daypart}、{hero}は{goal}のそばで、{friend}が飼っている{herd.a}を{+見つける}。{herd}は{friend}"
            "のところへ{+走る}。"
        ),
    ),
    # ---------------------------------------------------------------------------------------------- scenes of their own
    "talk": (
        "{p=any}「{p.saying}」と{p}は{+言う}。{q=second}{q}は{goal}を見ながら{+考える}。",
        "{p=any}{p.trade}の{p}は{p.home}で{p.thing}を{+磨く}。「{p.saying}」と{p}は{+言う}。",
        "{p=any}{r=second}{q=ware}「{q}は一ついくら？」と{p}が{+聞く}。「{q.price}文{r.da}」と{r}が{+答える}。",
        "{p=any}「{p.I}は{p.trade}{p.da}」と{p}は{+言う}。「年は{p.age}歳{p.da}」",
        "{p=any}{q=second}「{p.I}の{p.thing}はどこ？」と{p}が{+聞く}。{q}は「{p.home}{q.da}」と{+答える}。",
    ),
    "hearsay": (
        "{p=any}{p}は{claim}と{+言う}。{hearsay_end}",
        "{p=any}{p.home}で、{p}は{claim}という話を{+聞く}。{hearsay_end}",
    ),
    "claim": (
        "{p=second}{p}が{claim}と{believes}",
        "{p=second}{p.home}に住む{p}が{claim}と{believes}",
        "{beast}が{state}いる",
        "{p=second}{p}が{p.thing}を持っている",
        "{goal}の番号が{code}だ",
        "{p=second}{p}が{p.age}歳だ",
    ),
    "believes": ("思っている", "信じている", "話していた", "聞いた"),
    "hearsay_end": ("わけを知る人は{+いない}。", "{hero}はそれを{+信じる}。", "{weather}", "{hero}は{+笑う}。"),
    "remark": (
        "{beast}が{state}{+いる}。{weather}",
        "{weather}{beast}は{state}{+いる}。",
        "{p=buyer}{a=animal}{p}は{hero}に、{goal}にいた{a.a}のことを{+話す}。",
    ),
    "beast": (
        "{a=animal}{p=any}{p}が{p.home}の裏で飼っている{a}",
        "{a=animal}{p=any}{p}の子どもが{every}世話をする{a}",
        "{a=animal}{p=any}{q=second}{q}を知っている{p}が{goal}のそばで見た{a}",
        "{a=animal}{adjective}{a}",
    ),
    "quiz": (
        "{p=any}{q=second}{r=third}「{q.thing}は誰が持っている？」と{p}が{+聞く}。「{q}{r.da}」と{r}が{+答える}。",
        "{p=any}{q=second}{r=third}「{q}は何歳？」と{p}が{+聞く}。「{q.age}歳{r.da}」と{r}が{+答える}。",
        "{p=any}{q=second}{r=third}「{q}の口ぐせは？」と{p}が{+聞く}。「『{q.saying}』{r.da}」と{r}が{+答える}。",
        "{p=any}{q=second}{r=third}「{q}の家はどこ？」と{p}が{+聞く}。「{q.home}{r.da}」と{r}が{+答える}。",
        "{p=any}{q=second}{r=third}「{q}の仕事は？」と{p}が{+聞く}。「{q.trade}{r.da}」と{r}が{+答える}。",
        "{p=any}{r=second}「ここはどこ？」と{p}が{+聞く}。「{river}の{town}{r.da}」と{r}が{+答える}。",
    ),
    "sayings": ("{each:people:says}", "{back:people:says}"),
    "says": ("「{it.saying}」と{it}は{+言う}。", "{it}の口ぐせは「{it.saying}」{+だ}。"),
    # ------------------------------------------------------------------------------------------------------------ words
    "weather": (
        "{side}から風が{+吹く}。",
        "{sky}{daytime}{+だ}。",
        "{town}に雨が{+降る}。",
        "{town}の屋根に雪が積もって{+いる}。",
        "{river}には霧が{+かかる}。",
    ),
    "daypart": ("{daytime}が近づくころ", "次の{daytime}", "{number}日たって", "雨がやむと", "{daytime}になると"),
    "number": ("二", "三", "四", "五", "七", "十"),
    "daytime": ("朝", "昼", "夕方", "夜"),
    "daytime_one": ("ある朝", "ある晩", "ある夜"),
    "every": ("毎朝", "毎晩", "毎日"),
    "side": ("北", "南", "東", "西", "海", "山"),
    "sky": ("寒い", "明るい", "灰色の", "静かな", "暖かい", "暗い"),
    "state": ("腹をすかせて", "眠って", "おびえて", "疲れて", "じっとして", "雪の中に立って"),
    "adjective": ("年寄りの", "小さな", "灰色の", "黒い", "静かな"),
    "crowd": ("舟", "烏", "子どもたち", "雲", "漁師たち"),
    "food": ("干し草", "パン", "枯れ葉", "林檎", "麦"),
    "trifle": ("パン", "塩", "茶", "古い釘", "蜂蜜", "油", "糸", "新聞"),
}
