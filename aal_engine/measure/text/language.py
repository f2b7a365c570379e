"""What the text rules know of each language: function words, denials, stemmers.

English, German, French and Spanish have every table. Other languages have a stemmer where Snowball
has one and nothing else: phrases, numbers and citations work, and no hit is taken for denied. Words
stand here as `aal_engine.measure.text.normal` cuts them: case folded, parted at hyphens and apostrophes
(`don't` is `don t`, `n'est` is `n est`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, TypeAlias

Words: TypeAlias = frozenset[str]
Row: TypeAlias = tuple[str, ...]
Rows: TypeAlias = Mapping[Row, tuple[Row, ...]]
"""Rows of two words and more, under their first two."""

NO_WORDS: Final[Words] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """The tables of one language.

    `function_words` carry no content; capitalised they open a sentence after an abbreviation.
    `negators` deny what follows them in their clause, the `short` among them only what follows at
    once, and so do the words `led` by one of `leads` shortly before them (`don t`, `ne plus`),
    unless they are part of a `harmless` row. `deniers` say that something does not hold (`a myth
    that`, `is false`) and `affirmers` that it does (`is not true`), with `copulas` before and `fillers` between. What is denied of a number after one of the
    `comparisons` is not the number (`not more than 90`). `breaks` open a new clause,
    A `boasting` negator with a word of `praise` or one of the `praises` between it and what is
    mentioned, or in the clause behind, denies nothing of it (`no one does it better`).
    `joins` carry a denial over a list, `complements` open the clause that a denial is about and
    `reporting` verbs do without one (`nobody says`). Such a clause is denied only where what is denied
    is one of the `affirmers`, `reporting` or `asserting` words: `it is not surprising that`, `you may
    not know that` assert it. What follows one of the `factive` words is never denied by what is before.
    `as` opens a clause unless one of the `ascribing` words is before it (`not sold as`). With `concord`
    two negators deny once.
    `ordinal_stop`: a stop after a number makes it an ordinal. `decimal_mark` decides what `1.234`
    is, `month_first` what 2/1/2026 is.
    """

    code: str
    stemmer: str | None = None
    function_words: Words = NO_WORDS
    negators: Words = NO_WORDS
    leads: Words = NO_WORDS
    led: Words = NO_WORDS
    short: Words = NO_WORDS
    harmless: Rows = field(default_factory=dict)
    deniers: Words = NO_WORDS
    affirmers: Words = NO_WORDS
    copulas: Words = NO_WORDS
    fillers: Words = NO_WORDS
    comparisons: frozenset[Row] = frozenset()
    breaks: Words = NO_WORDS
    joins: Words = NO_WORDS
    complements: Words = NO_WORDS
    reporting: Words = NO_WORDS
    asserting: Words = NO_WORDS
    factive: Words = NO_WORDS
    ascribing: Words = NO_WORDS
    boasting: Words = NO_WORDS
    praise: Words = NO_WORDS
    praises: frozenset[Row] = frozenset()
    concord: bool = False
    ordinal_stop: bool = False
    decimal_mark: str = "."
    month_first: bool = False


def words(text: str) -> Words:
    """Return the words of a text; so tables of words stand as text."""
    return frozenset(text.split())


def _pairs(text: str) -> frozenset[Row]:
    return frozenset(_rows(text))


def _rows(text: str) -> Rows:
    rows: dict[Row, tuple[Row, ...]] = {}
    for row in (tuple(row.split()) for row in text.split(",")):
        rows[row[:2]] = (*rows.get(row[:2], ()), row)
    return rows


ENGLISH: Final = Language(
    "en",
    "english",
    function_words=words(
        "a about above across after again against all along also although am among an and another"
        " any are aren around as at be because been before being below between both but by can could"
        " couldn d did didn do does doesn doing don down during each either else ever every few for"
        " from further had hadn has hasn have haven having he hence her here hers herself him himself"
        " his how however i if in into is isn it its itself just ll m may me might more most much"
        " must mustn my myself neither no nor not of off often on once one only onto or other others"
        " our ours out over own per quite rather re s same several shall she should shouldn since so"
        " some such t than that the their theirs them themselves then there therefore these they this"
        " those though through thus to too toward towards under until up upon us ve very was wasn we"
        " were weren what when where whereas whether which while who whom whose why will with within"
        " without won would wouldn yet you your yours"
    ),
    negators=words(
        "not no never none nobody nothing nowhere neither nor cannot without falsely deny denies"
        " denied refutes refuted disputes cant dont isnt wasnt arent werent doesnt didnt wont hasnt"
        " havent hadnt couldnt wouldnt shouldnt"
    ),
    leads=words(
        "ain aren can couldn didn doesn don hadn hasn haven isn mightn mustn needn shan shouldn wasn"
        " weren won wouldn"
    ),
    led=words("t"),
    harmless=_rows(
        "not only,not just,not merely,not simply,not solely,not alone,not least,not to mention,"
        "not more than,not less than,not fewer than,not later than,not until,not unless,"
        "not uncommon,not unusual,not unlike,not surprisingly,not in dispute,not in doubt,"
        "not forget,don t forget,never forget,not worry,don t worry,not hesitate,don t hesitate,"
        "not miss,don t miss,not fail to,never fails to,never fail to,not help but,can t help but,"
        "cannot help but,cannot overstate,can t overstate,cannot stress,can t stress,"
        "cannot be overstated,can t be overstated,not doubt,don t doubt,not so much,not that,"
        "why not,if not,or not,isn t only,isn t just,isn t merely,aren t only,aren t just,"
        "wasn t only,wasn t just,don t only,don t just,doesn t only,doesn t just,"
        "no doubt,no question,no wonder,no matter,no surprise,no secret,no exception,"
        "no more than,no less than,no fewer than,no later than,no sooner than,no other than,"
        "none other than,nothing but,nothing less than,nothing more than,nothing other than,"
        "nothing short of,without doubt,without a doubt,without any doubt,without question,"
        "without exception,without fail,never mind,nothing like,nothing quite like,nothing beats,"
        "nothing tops,nothing compares,nothing better,nothing easier,nothing as good,"
        "never before,never been so,never been easier,never been better,never been more,"
        "never been faster,never been simpler,never so,not regret,won t regret,never regret,"
        "not be sorry,won t be sorry,not be disappointed,won t be disappointed,cannot beat,"
        "can t beat,not believe,won t believe,cannot go wrong,can t go wrong,can t get enough,"
        "cannot wait,can t wait,never miss,no problem,no limit to,no further than,no need to,"
        "who doesn t,who wouldn t,who would not,who does not,never have too,never get enough,"
        "nothing can stop,nothing stops,cannot match,can t match,cannot top,can t top,"
        "cannot be beaten,can t be beaten,cannot be matched,can t be matched,not find better,"
        "won t find better,not find a better,never find better,never find a better,"
        "nowhere else"
    ),
    deniers=words(
        "myth myths false untrue incorrect wrong misconception misconceptions fiction fallacy"
        " inaccurate mistaken hoax lie rumor rumour debunked disproved disproven refuted unfounded"
        " baseless erroneous nonsense"
    ),
    affirmers=words("true correct accurate right case fact so valid"),
    copulas=words("is was are were be been being remains s isn wasn aren weren"),
    fillers=words(
        "simply just completely plainly entirely totally utterly demonstrably actually clearly certainly widely currently still common popular"
    ),
    comparisons=_pairs(
        "more than,less than,fewer than,longer than,later than,earlier than,greater than,higher than,lower than"
    ),
    breaks=words(
        "but however although though whereas because since so and then unless until if when while"
        " where which who whose therefore except instead"
    ),
    boasting=words("no none nobody nothing nowhere never"),
    praise=words(
        "better faster quicker easier simpler cheaper smoother safer sooner superior beat beats match"
        " matches matched rival rivals surpass surpasses equal equals outdo outdoes outperforms"
        " compare compares"
    ),
    praises=_pairs(
        "like us,like we,like ours,like our,as well,as good,as fast,as easy,as quickly,as smoothly,"
        "so easy,so good,so fast,so simple,so quick,been easier,been better,tops our,too many,too much,comes close,come close"
    ),
    joins=words("or nor"),
    complements=words("that"),
    reporting=words(
        "say says said claim claims claimed assume think believe suggest conclude mean"
    ),
    asserting=words(
        "state states stated stating indicate indicates indicated show shows showed shown imply implies"
        " implied prove proves proved proven confirm confirms confirmed confirming guarantee guarantees"
        " guaranteed promise promises promised promising support supports supported suggests suggested"
        " concludes concluded means meant thinks believes believed assumes claiming saying tell tells"
        " told assert asserts asserted specify specifies specified expect expects expected follow follows"
        " evidence proof indication sign rule policy statement way possible certain deny denies denied"
        " refutes refuted disputes"
    ),
    factive=words(
        "know knows knew known realize realizes realise realises realized realised notice noticed hear"
        " heard hide hiding forget ignore overlook omit regret mind complain doubt aware surprising"
        " surprised learn discover"
    ),
    ascribing=words(
        "advertised billed classified classed considered counted defined described given listed marketed"
        " meant offered presented promoted recognised recognized regarded seen sold such treated used"
        " well"
    ),
    short=words("without"),
    month_first=True,
)

GERMAN: Final = Language(
    "de",
    "german",
    function_words=words(
        "aber alle allem allen aller alles als also am an andere anderen anderer anderes auch auf aus"
        " bei beim bereits bis bin bist da dabei dadurch dafür daher damit dann daran darauf daraus"
        " darf darin darüber das dass dazu dein deine dem den denen denn der deren des dessen dich"
        " die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen"
        " einer eines einige er es etwa etwas euch euer für gegen habe haben hat hatte hatten hier"
        " hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist ja jede jedem"
        " jeden jeder jedes jedoch jene jetzt kann kein keine keinem keinen keiner können könnte man"
        " mehr mein meine mich mir mit muss müssen nach nicht nichts noch nun nur ob oder ohne schon"
        " sehr sein seine seinem seinen seiner seit selbst sich sie sind so sobald sofern solche soll"
        " sollen sollte sondern sonst sowie über um und uns unser unsere unter viel vom von vor war"
        " waren warum was wegen weil weiter welche welcher welches wenn wer werden wie wieder will"
        " wir wird wo wobei wurde wurden zu zum zur zwar zwischen"
    ),
    negators=words(
        "nicht kein keine keinem keinen keiner keines keinerlei nie niemals nirgends nirgendwo"
        " niemand nichts weder ohne keinesfalls keineswegs mitnichten"
    ),
    leads=words("weder"),
    led=words("noch"),
    harmless=_rows(
        "nicht nur,nicht bloss,nicht allein,nicht lediglich,nicht zuletzt,nicht weniger als,"
        "nicht mehr als,nicht länger als,nicht später als,nicht vergessen,vergessen sie nicht,"
        "vergiss nicht,zögern sie nicht,nicht ungewöhnlich,nicht unüblich,nicht umsonst,"
        "nicht zu leugnen,nicht zu bestreiten,ohne zweifel,ohne frage,ohne weiteres,"
        "ohne ausnahme,kein zweifel,keine frage,kein wunder,kein geheimnis,nichts als,"
        "nichts anderes als,nichts weniger als,nicht ohne,nichts geht über,nichts schlägt,"
        "nichts besseres,nie zuvor,nie war,nie waren,noch nie war,noch nie waren,nicht bereuen"
    ),
    deniers=words(
        "mythos falsch falsche unwahr unrichtig irrtum märchen gerücht lüge unzutreffend widerlegt"
        " falschmeldung"
    ),
    affirmers=words("wahr richtig korrekt zutreffend fall stimmt"),
    copulas=words("ist war sind waren sei wäre bleibt wurde worden stimmt trifft"),
    fillers=words("einfach schlicht völlig ganz offensichtlich eindeutig schlichtweg längst"),
    comparisons=_pairs("mehr als,weniger als,länger als,später als,höher als"),
    breaks=words(
        "aber jedoch sondern doch denn weil obwohl während und dann wenn falls sobald bis deshalb"
        " daher trotzdem"
    ),
    boasting=words("kein keine keinem keinen keiner nie niemals niemand nichts nirgends nirgendwo"),
    praise=words(
        "besser bessere besseren besseres schneller schnellere einfacher einfachere günstiger leichter"
        " bequemer sicherer schlägt übertrifft toppt gleicht"
    ),
    praises=_pairs("so gut,so schnell,so einfach,so leicht,so günstig,wie wir,wie bei,als wir"),
    joins=words("oder noch"),
    complements=words("dass"),
    reporting=words("sagen sagt behaupten behauptet annehmen glauben glaubt bedeutet heisst"),
    asserting=words(
        "stimmt trifft behaupte behauptete gesagt sage glaube meint meinen bedeuten heissen garantieren"
        " garantiert versprechen verspricht bestätigen bestätigt belegt belegen beleg beweis beweist"
        " hinweis regel möglich erwarten davon folgt zutrifft zugesichert zusichern"
    ),
    factive=words(
        "weiss wissen wusste wussten bemerkt gehört vergessen verheimlichen verschweigen bereuen"
        " bezweifeln bezweifelt überrascht wundert"
    ),
    short=words("ohne"),
    ordinal_stop=True,
    decimal_mark=",",
)

FRENCH: Final = Language(
    "fr",
    "french",
    function_words=words(
        "a afin ai ainsi alors après as au aucun aucune aussi autre autres aux avait avant avec avez"
        " avoir avons c car ce ceci cela celle celles celui cependant ces cet cette ceux chaque chez"
        " ci comme comment d dans de depuis des dès donc dont du elle elles en encore entre es est et"
        " étaient était été être eu eux faire fait fois furent fut ici il ils j je jusqu jusque l la"
        " le les leur leurs lors lorsque lui m ma mais me même mêmes mes mi moi moins mon n ne ni non"
        " nos notre nous on ont ou où par parce pas pendant peu peut peuvent plus plusieurs pour"
        " pourquoi puis puisque qu quand que quel quelle quelles quels quelque quelques qui quoi rien"
        " s sa sans se selon sera seront ses si son sont sous sur t ta tandis te tes toi ton tous"
        " tout toute toutes très tu un une vers vos votre vous y"
    ),
    negators=words(
        "pas jamais aucun aucune ni sans rien personne nullement nul nulle non faussement"
    ),
    leads=words("ne n"),
    led=words("plus point guère"),
    harmless=_rows(
        "non seulement,pas seulement,pas uniquement,pas simplement,pas moins de,pas plus de,"
        "pas plus tard,pas mal,n oubliez pas,n oublie pas,n oublions pas,n hésitez pas,"
        "sans doute,sans aucun doute,sans nul doute,aucun doute,nul doute,sans compter,"
        "sans parler,sans exception,sans faute,rien que,rien d autre que,rien de moins que,"
        "ni plus ni moins,rien ne vaut,rien ne bat,rien de tel,rien de mieux,jamais auparavant,"
        "regretterez pas,regretteras pas,serez pas déçu"
    ),
    deniers=words(
        "faux fausse mythe erroné erronée inexact inexacte incorrect incorrecte mensonge canular"
        " légende infondé infondée démenti démentie réfuté réfutée"
    ),
    affirmers=words("vrai vraie exact exacte correct correcte juste cas"),
    copulas=words("est sont était étaient sera seront été fut reste"),
    fillers=words("simplement complètement totalement évidemment clairement"),
    comparisons=_pairs("plus de,moins de,plus que,moins que"),
    breaks=words(
        "mais cependant toutefois pourtant néanmoins car parce puisque donc et alors si quand"
        " lorsque tandis où dont qui sauf"
    ),
    boasting=words("aucun aucune rien personne jamais nul nulle"),
    praise=words("mieux meilleur meilleure meilleurs meilleures bat égale surpasse rivalise"),
    praises=_pairs(
        "plus rapide,plus rapides,plus facile,plus faciles,plus simple,plus vite,plus sûr,aussi bien,"
        "aussi rapide,aussi rapides,aussi facile,aussi simple,si facile,si simple,comme nous"
    ),
    joins=words("ou ni"),
    complements=words("que qu"),
    reporting=words("dire dit affirmer affirme prétendre penser croire signifie"),
    asserting=words(
        "dis disons disent affirmons affirment prétend prétendons prétendent pense pensons pensent crois"
        " croyons croit croient signifier garantir garantit garantissons garantissent promettre promet"
        " promettons confirmer confirme indique indiquent indiquer montre prouve preuve règle possible"
    ),
    factive=words(
        "sais savez sait savent saviez savait ignorer ignorez oublier oubliez oublie cacher cachons"
        " regretter regretterez surprenant étonnant douter doute"
    ),
    short=words("sans"),
    concord=True,
    decimal_mark=",",
)

SPANISH: Final = Language(
    "es",
    "spanish",
    function_words=words(
        "a al algo alguna algunas alguno algunos ante antes aquel aquella así aun aunque bajo bien"
        " cada casi como con contra cual cuales cualquier cuando cuánto de del desde después donde"
        " dos durante e el él ella ellas ellos en entonces entre era eran es esa esas ese eso esos"
        " esta está están estas este esto estos fue fueron ha había hace hacia han hasta hay la las"
        " le les lo los más me mediante menos mi mientras mis muchas mucho muchos muy nada ni ningún"
        " ninguna no nos nosotros o os otra otras otro otros para pero poco por porque pues puede"
        " pueden que qué quien quienes se sea según ser será si sí sido sin sino sobre son su sus"
        " también tampoco tan tanto te tiene tienen todo toda todos todas tras tu tus u un una unas"
        " uno unos usted ustedes y ya yo"
    ),
    negators=words(
        "no nunca jamás ni tampoco sin ningún ninguna ninguno nadie nada falsamente niega niegan"
    ),
    harmless=_rows(
        "no solo,no sólo,no solamente,no únicamente,no obstante,no menos de,no más de,no olvide,"
        "no olvides,no olvidar,no dude,no dudes,no cabe duda,no hay duda,sin embargo,sin duda,"
        "sin lugar a dudas,sin excepción,sin falta,nada más que,nada menos que,nada como,"
        "nada supera,nada mejor,nunca antes,no se arrepentirá,no te arrepentirás"
    ),
    deniers=words(
        "falso falsa mito incorrecto incorrecta erróneo errónea mentira bulo inexacto inexacta"
        " equivocado equivocada desmentido desmentida"
    ),
    affirmers=words("cierto cierta verdad verdadero verdadera correcto correcta exacto exacta así"),
    copulas=words("es son era eran fue fueron será sido está están"),
    fillers=words("simplemente totalmente completamente claramente"),
    comparisons=_pairs("más de,menos de,más que,menos que"),
    breaks=words(
        "pero sino aunque porque pues y e entonces si cuando mientras donde quien excepto salvo"
    ),
    boasting=words("ningún ninguna ninguno nadie nada nunca jamás"),
    praise=words("mejor mejores supera superan iguala igualan gana"),
    praises=_pairs(
        "más rápido,más rápidos,más rápida,más fácil,más fáciles,más sencillo,tan bien,tan fácil,tan fáciles,"
        "tan rápido,tan rápidos,tan sencillo,como nosotros"
    ),
    joins=words("o u ni"),
    complements=words("que"),
    reporting=words("decir dice afirmar afirma creer pensar significa"),
    asserting=words(
        "digo decimos dicen afirmamos afirman creo creemos cree creen pienso pensamos piensa significar"
        " garantizar garantiza garantizamos garantizan prometer promete prometemos confirmar confirma"
        " confirmamos indica indican indicar demuestra prueba pruebas regla posible niega niegan"
    ),
    factive=words(
        "sabe sabes saben sabía sabías saber ignorar ignore olvidar olvide olvides ocultar ocultamos"
        " lamentar sorprende sorprendente extraña dudar duda dude"
    ),
    short=words("sin"),
    concord=True,
    decimal_mark=",",
)

TABLED: Final[Mapping[str, Language]] = {
    table.code: table for table in (ENGLISH, GERMAN, FRENCH, SPANISH)
}

SNOWBALL: Final[Mapping[str, str]] = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "el": "greek",
    "eu": "basque",
    "fi": "finnish",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
"""Snowball's algorithm of each language code (ISO 639-1) beside the four with tables."""


COMMA_DECIMAL: Final[Words] = words(
    "be bg bs ca cs da el et eu fi gl hr hu hy id is it lt lv mk nb nl nn no pl pt ro ru sk sl sq sr"
    " sv tr uk vi"
)
"""Languages without tables that write `3,5`."""

POINT_REGIONS: Final[Words] = words("ch do gt hn li mx ni pa pe pr sv us")
"""Regions that write `3.5` though their language elsewhere does not."""


DAY_FIRST_REGIONS: Final[Words] = words("au gb ie in nz sg uk za")
"""Regions that write the day first though their language elsewhere does not."""


@lru_cache(maxsize=256)
def language_of(code: str) -> Language:
    """Return the tables of a language code (`en`, `de-AT`); nearly empty ones where none are kept.

    >>> language_of("de-AT").stemmer, language_of("it").negators
    ('german', frozenset())
    """
    primary, *rest = code.replace("_", "-").casefold().split("-")
    table = TABLED.get(primary)
    if table is None:
        mark = "," if primary in COMMA_DECIMAL else "."
        table = Language(primary, SNOWBALL.get(primary), decimal_mark=mark)
    if POINT_REGIONS.intersection(rest):
        table = replace(table, decimal_mark=".")
    if DAY_FIRST_REGIONS.intersection(rest):
        table = replace(table, month_first=False)
    return table
