"""Sentences that decline to answer, and answers that say nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from aal_engine.measure.text.language import (
    ENGLISH,
    FRENCH,
    GERMAN,
    SPANISH,
    Language,
    Words,
    words,
)
from aal_engine.measure.text.line import Line
from aal_engine.measure.text.term import term_set

LEAST_SAID: Final = 3
"""How many content words a clause beside one that declines has to have to answer something."""

# Patterns run over tokens parted by single spaces. Every gap is bounded, so each is linear.
_W = r"(?:\S++ )"

_EN_DOCUMENTS = (
    r"(?:documents?|documentation|contexts?|passages?|sources?|texts?|articles?|excerpts?|materials?"
    r"|snippets?|search results?|knowledge base|handbook|manual|faq|wiki"
    r"|information (?:provided|given|available))"
)
_EN_TELL = (
    r"(?:mention|contain|provide|include|specify|specifie|state|say|address|addresse|cover|answer"
    r"|discus|discusse|explain|indicate|describe|clarify|clarifie|detail|reveal|disclose)s?"
)
_ENGLISH: Final = (
    rf"\b{_EN_DOCUMENTS} {_W}{{0,12}}?(?P<at>they|it) (?:do not|does not|don t|doesn t) {_EN_TELL}\b",
    (
        rf"\b(?:i|we) (?:m |am |are |was |were )?{_W}{{0,2}}?(?:don t|do not|didn t|did not|cannot|can t"
        rf"|can not|couldn t|could not|am not|not|unable to|not able to) {_W}{{0,3}}?"
        r"(?:know|answer|tell|determine|say|sure|certain|aware|speculate)\b"
    ),
    (
        rf"\b(?:i|we) {_W}{{0,2}}?(?:don t|do not|didn t|did not|cannot|can t|can not|couldn t|could not"
        rf"|unable to|not able to|have no|had no|found no|find no) {_W}{{0,5}}?(?:information|info"
        r"|details?|data|answer|context|mention|reference|documents?|documentation|evidence|knowledge"
        r"|idea)\b"
    ),
    (
        rf"\b{_EN_DOCUMENTS} {_W}{{0,4}}?(?:do not|does not|did not|don t|doesn t|didn t) {_W}{{0,3}}?"
        rf"{_EN_TELL}\b"
    ),
    rf"\b(?:none|neither) of {_W}{{0,4}}?{_EN_DOCUMENTS} {_W}{{0,2}}?{_EN_TELL}\b",
    rf"\b(?:no {_EN_DOCUMENTS}|nothing in {_W}{{0,4}}?{_EN_DOCUMENTS}) {_EN_TELL}\b",
    rf"\bthere (?:is|s|was) nothing {_W}{{0,3}}?in {_W}{{0,3}}?{_EN_DOCUMENTS}\b",
    (
        rf"\bno {_W}{{0,2}}?{_EN_DOCUMENTS} (?:\S++ ){{0,1}}?(?:were|was|could be) (?:\S++ ){{0,1}}?"
        r"(?:found|retrieved|available|provided)\b"
    ),
    r"\bno answer (?:\S++ ){0,1}?(?:can|could) be (?:given|found|provided|determined)\b",
    rf"\b(?:information|answer|details?|this|that|it) (?:is|are|was) not in {_W}{{0,3}}?{_EN_DOCUMENTS}\b",
    rf"\b(?:i|we) {_W}{{0,1}}?lack {_W}{{0,4}}?(?:information|details?|context|data)\b",
    rf"\b{_EN_DOCUMENTS} (?:is|are|remains?) silent (?:on|about|regarding)\b",
    rf"\b(?:unclear|not clear) from {_W}{{0,3}}?{_EN_DOCUMENTS}\b",
    (
        r"\b(?:i|we) (?:m |am |are )?(?:cannot|can t|can not|unable to|not able to) (?:\S++ ){0,1}?"
        r"(?:help|assist)(?: you)? with (?:this|that|your)\b"
    ),
    (
        r"\b(?:i|we) (?:m |am |are |was |were )?(?:cannot|can t|can not|couldn t|could not|didn t|did not"
        r"|unable to|not able to) (?:find|locate) (?:this|that|it|anything|the answer|an answer)\b"
    ),
    (
        rf"(?:^|\bthere (?:is|s|was) |\bfound |\bsee )(?:no|not enough|insufficient) {_W}{{0,3}}?"
        r"(?:information|info|details?|mention|documentation)\b"
    ),
    r"\bno (?:\S++ ){0,2}?information (?:is|was) (?:\S++ ){0,1}?(?:available|provided|given|found)\b",
    (
        rf"\b(?:not|cannot be|can t be|could not be|couldn t be|isn t|aren t|wasn t|weren t) {_W}{{0,2}}?"
        r"(?:found|mentioned|provided|specified|stated|available|included|addressed|covered|given"
        r"|answered|determined|discussed|described|listed|disclosed|contained|present)"
        rf" {_W}{{0,2}}?(?:in|by|within|from|based on) {_W}{{0,4}}?{_EN_DOCUMENTS}\b"
    ),
    (
        rf"\b(?:question|query|this|it|that) {_W}{{0,2}}?(?:cannot|can t|could not|couldn t) be"
        r" (?:answered|determined|found)\b"
    ),
    r"\b(?:impossible|not possible) to (?:\S++ ){0,1}?(?:answer|determine|say|tell)\b",
    (
        r"\b(?:insufficient|not enough|not sufficient) (?:\S++ ){0,1}?(?:information|context|details?)"
        r" (?:to|in|for|available|provided)\b"
    ),
    (
        rf"\b(?:outside|beyond) {_W}{{0,4}}?(?:my|the provided|the available|the given) {_W}{{0,1}}?"
        rf"(?:scope|knowledge|{_EN_DOCUMENTS})\b"
    ),
    (
        r"^(?:unknown|unanswerable|no answer|no answer found|not found|not available|not mentioned"
        r"|not specified|not stated|not provided|not answerable|not known|n a|insufficient information"
        r"|no information|no relevant information|no information found|no relevant information found"
        r"|i don t know|no idea)$"
    ),
)

_EN_COURTESY: Final = (
    (
        r"^(?:please|sorry|i m sorry|i am sorry|i apologi[sz]e|let me know|feel free|i (?:would )?"
        r"(?:recommend|suggest)|i (?:can|d be happy to|would be happy to) help|i hope|if you|for (?:more"
        r"|further|specific|accurate|detailed|additional)|consider|it (?:may|might|would) be)\b"
    ),
    rf"^you {_W}{{0,3}}?(?:contact|check|consult|visit|refer|reach|ask|try|look|provide|search)\b",
    rf"\b{_EN_DOCUMENTS} {_W}{{0,3}}?(?:only|mainly|primarily|mostly|focus|focuses|instead)\b",
)

_DE_DOCUMENTS = (
    r"(?:dokumente?n?|kontext|textstellen?|quellen?|unterlagen|passagen?|abschnitte?n?|texte?s?"
    r"|artikeln?|auszüge?n?|materialien|informationen|suchergebnisse?n?|wissensdatenbank)"
)
_GERMAN: Final = (
    rf"\b(?:ich|wir) (?:weiss|wissen) {_W}{{0,3}}?(?:nicht|keine)\b",
    rf"\b(?:weiss|kann|können|konnte|konnten) (?:ich|wir) {_W}{{0,6}}?nicht\b",
    (
        rf"\b(?:ich|wir) (?:kann|können|konnte|konnten) {_W}{{0,8}}?(?:nicht|keine|keinen|nichts)"
        rf" {_W}{{0,4}}?(?:beantworten|sagen|finden|feststellen|bestimmen|ermitteln)\b"
    ),
    (
        rf"\b(?:ich|wir) (?:habe|haben|verfüge|verfügen) {_W}{{0,4}}?(?:keine|keinerlei|nicht genügend"
        rf"|nicht genug|nicht ausreichend) {_W}{{0,4}}?(?:informationen?|angaben?|antwort|details|daten)\b"
    ),
    (
        rf"\b{_DE_DOCUMENTS} {_W}{{0,4}}?(?:enthält|enthalten|nennt|nennen|erwähnt|erwähnen|liefert"
        rf"|liefern|geben|gibt|beantwortet|beantworten|sagt|sagen|geht|gehen|bietet|bieten|macht|machen"
        rf"|umfasst) {_W}{{0,6}}?(?:nicht|keine|keinen|keinerlei|kein|nichts)\b"
    ),
    (
        rf"\b(?:keine|keinerlei|nicht genügend|nicht genug|unzureichende) {_W}{{0,2}}?(?:informationen?"
        rf"|angaben?|antwort|hinweise?|details) {_W}{{0,4}}?(?:vor|vorhanden|gefunden|verfügbar|enthalten"
        r"|über|zu|zum|zur|im|in|dazu|darüber|liegen)\b"
    ),
    (
        rf"\b(?:liegen|gibt|finden) {_W}{{0,4}}?(?:keine|keinerlei) {_W}{{0,2}}?(?:informationen?"
        r"|angaben?|antwort|hinweise?)\b"
    ),
    (
        rf"\b(?:im|in den|in der|in|aus dem|aus den) {_W}{{0,4}}?{_DE_DOCUMENTS} {_W}{{0,4}}?nicht"
        rf" {_W}{{0,2}}?(?:gefunden|erwähnt|enthalten|angegeben|genannt|beantwortet|hervor)\b"
    ),
    (
        rf"\bnicht {_W}{{0,2}}?(?:im|in den|in der|in) {_W}{{0,4}}?{_DE_DOCUMENTS} {_W}{{0,2}}?"
        r"(?:gefunden|erwähnt|enthalten|angegeben|genannt)\b"
    ),
    r"\bfrage (?:\S++ ){0,6}?nicht (?:\S++ ){0,2}?beantwort(?:en|et)\b",
    (
        r"^(?:unbekannt|nicht gefunden|keine angabe|keine angaben|keine antwort|nicht bekannt"
        r"|keine informationen)$"
    ),
)

_DE_COURTESY: Final = (
    (
        r"^(?:bitte|wenden sie|kontaktieren sie|es tut mir leid|tut mir leid|für weitere|wenn sie"
        r"|falls sie|ich empfehle|gern|gerne)\b"
    ),
    rf"^sie (?:können|sollten) {_W}{{0,8}}?(?:wenden|kontaktieren|nachsehen|prüfen|fragen)\b",
    rf"\b{_DE_DOCUMENTS} {_W}{{0,4}}?(?:nur|ausschliesslich|lediglich|vor allem)\b",
)

_FR_DOCUMENTS = (
    r"(?:documents?|contexte|passages?|sources?|textes?|extraits?|articles?|informations?"
    r"|résultats?)"
)
_FRENCH: Final = (
    r"\b(?:je|nous) ne (?:le )?(?:sais|savons) pas\b",
    (
        rf"\b(?:je|nous) (?:ne|n) (?:\S++ ){{0,2}}?(?:ai|avons|dispose|disposons|trouve|trouvons|vois)"
        rf" (?:pas|aucune?) {_W}{{0,5}}?(?:informations?|réponse|données|éléments|détails|trouvé)\b"
    ),
    (
        rf"\b(?:je|nous) ne (?:\S++ ){{0,2}}?(?:peux|puis|pouvons|suis|sommes) pas {_W}{{0,4}}?"
        r"(?:répondre|déterminer|trouver|dire|mesure)\b"
    ),
    (
        rf"\b{_FR_DOCUMENTS} {_W}{{0,4}}?(?:ne|n) (?:\S++ ){{0,2}}?(?:mentionn|contien|précis|indiqu"
        rf"|fourni|donn|spécifi|abord|répond|permet|comport|inclu|trait)\S*+ {_W}{{0,2}}?"
        r"(?:pas|aucune?|rien)\b"
    ),
    rf"\baucune {_W}{{0,2}}?(?:information|mention|réponse|précision|indication)\b",
    (
        r"\b(?:pas|non) (?:\S++ ){0,2}?(?:trouvée?s?|mentionnée?s?|précisée?s?|indiquée?s?|fournie?s?)"
        rf" dans {_W}{{0,4}}?{_FR_DOCUMENTS}\b"
    ),
    r"\binformations? insuffisantes?\b",
    r"^(?:inconnue?|réponse inconnue|non trouvée?|non précisée?|non mentionnée?|pas de réponse)$",
)

_FR_COURTESY: Final = (
    (
        r"^(?:veuillez|merci de|désolée?|je suis désolée?|n hésitez|pour plus|pour toute|si vous"
        r"|je vous (?:recommande|conseille|invite|suggère)|je peux vous aider)\b"
    ),
    rf"^vous (?:pouvez|devriez|pourriez) {_W}{{0,3}}?(?:contacter|consulter|vérifier|demander)\b",
    rf"\b{_FR_DOCUMENTS} {_W}{{0,4}}?(?:seulement|uniquement|principalement|portent)\b",
)

_ES_DOCUMENTS = (
    r"(?:documentos?|contexto|pasajes?|fuentes?|textos?|fragmentos?|artículos?|materiales?"
    r"|información|resultados?)"
)
_SPANISH: Final = (
    r"\bno (?:lo )?(?:sé|sabemos)\b",
    (
        r"\bno (?:\S++ ){0,2}?(?:tengo|dispongo|cuento|encuentro|encontré|encontramos|tenemos"
        r"|disponemos|contamos|hay|existe|se encontró|se encuentra) (?:\S++ ){0,4}?(?:información"
        r"|respuesta|detalles|mención|datos suficientes|referencias?)\b"
    ),
    (
        r"\bno (?:\S++ ){0,1}?(?:puedo|podemos|es posible) (?:\S++ ){0,3}?(?:responder|contestar"
        r"|determinar|encontrar|responderla)\b"
    ),
    (
        rf"\b{_ES_DOCUMENTS} {_W}{{0,4}}?no (?:\S++ ){{0,2}}?(?:mencion|contien|proporcion|incluy"
        r"|especific|indic|respond|dice|dicen|abord|ofrec|detall)\S*+"
    ),
    (
        rf"\bno (?:\S++ ){{0,3}}?(?:encontr|mencion|especific|aparec|figur|indic)\S*+ (?:\S++ ){{0,2}}?en"
        rf" {_W}{{0,4}}?{_ES_DOCUMENTS}\b"
    ),
    r"\b(?:información insuficiente|ninguna información|sin información)\b",
    r"^(?:desconocido|se desconoce|no encontrado|no disponible|no especificado|no mencionado)$",
)

_ES_COURTESY: Final = (
    (
        r"^(?:por favor|lo siento|si (?:necesita|desea|tiene|quiere)|para más|consulte|contacte|consulta"
        r"|contacta|le recomiendo|te recomiendo|puedo ayudar)\b"
    ),
    rf"^(?:puede|puedes|podría) {_W}{{0,3}}?(?:contactar|consultar|visitar|preguntar|comprobar)\b",
    rf"\b{_ES_DOCUMENTS} {_W}{{0,4}}?(?:solo|sólo|solamente|únicamente|principalmente)\b",
)

_DECLINING: Final[Mapping[str, Sequence[str]]] = {
    "en": _ENGLISH,
    "de": _GERMAN,
    "fr": _FRENCH,
    "es": _SPANISH,
}
_COURTESY: Final[Mapping[str, Sequence[str]]] = {
    "en": _EN_COURTESY,
    "de": _DE_COURTESY,
    "fr": _FR_COURTESY,
    "es": _ES_COURTESY,
}
_CUES: Final[Mapping[str, tuple[Words, Words]]] = {
    "en": (
        ENGLISH.negators
        | words(
            "t n unable impossible insufficient unknown unanswerable outside beyond lack silent unclear"
        ),
        words(
            "know answer answered tell determine determined say sure certain aware speculate"
            " information info detail details data mention mentioned context contexts reference"
            " document documents documentation evidence knowledge idea passage passages source"
            " sources text texts article articles excerpt excerpts material materials snippet"
            " snippets found available provided specified stated known unknown unanswerable n handbook"
            " manual faq wiki help assist find locate"
        ),
    ),
    "de": (
        GERMAN.negators | words("unbekannt unzureichende"),
        words(
            "weiss wissen beantworten beantwortet sagen sagt finden feststellen bestimmen ermitteln"
            " information informationen angabe angaben antwort details daten hinweis hinweise"
            " dokument dokumente dokumenten kontext quelle quellen unterlagen passage passagen"
            " abschnitt abschnitte abschnitten text texte texten artikel artikeln auszug auszüge"
            " auszügen textstelle textstellen materialien suchergebnis suchergebnisse"
            " suchergebnissen wissensdatenbank frage gefunden unbekannt bekannt kann können"
            " konnte konnten"
        ),
    ),
    "fr": (
        FRENCH.negators | words("insuffisante insuffisantes inconnu inconnue"),
        words(
            "sais savons information informations réponse données éléments détails trouvé trouvée"
            " répondre déterminer trouver dire mesure document documents contexte passage passages"
            " source sources texte textes extrait extraits article articles résultat résultats"
            " mention précision indication inconnu inconnue précisé précisée mentionné mentionnée"
        ),
    ),
    "es": (
        SPANISH.negators | words("insuficiente desconocido desconoce"),
        words(
            "sé sabemos información respuesta detalles mención datos referencia referencias responder"
            " contestar determinar encontrar responderla documento documentos contexto pasaje pasajes"
            " fuente fuentes texto textos fragmento fragmentos artículo artículos material materiales"
            " resultado resultados desconocido desconoce encontrado disponible especificado"
            " mencionado"
        ),
    ),
}
"""Words of which a sentence that declines has one of each; most sentences lack them."""

_CONCEDING: Final[Mapping[str, Words]] = {
    "en": words("although though while whereas"),
    "de": words("obwohl während obgleich"),
    "fr": words("bien même"),
    "es": words("aunque"),
}
"""First words of a sentence that says something after all (`although the text does not ...`)."""


_CONTRAST: Final[Mapping[str, Words]] = {
    "en": words("but however"),
    "de": words("aber jedoch"),
    "fr": words("mais cependant"),
    "es": words("pero"),
}
"""Words after which a sentence that declined says something (`it does not say, but ...`)."""


_CONCLUDING: Final[Mapping[str, Words]] = {
    "en": words("so therefore thus hence which"),
    "de": words("daher deshalb also somit"),
    "fr": words("donc ainsi"),
    "es": words("entonces así"),
}
"""Words after which a sentence that declined may say something all the same."""

_SEARCHING: Final[Mapping[str, Words]] = {
    "en": words(
        "mention mentions discuss discusses cover covers contain contains describe describes address"
        " addresses provide provides include includes talk explain explains focus focuses relate"
        " searched looked reviewed checked read understand appreciate asked question"
    ),
    "de": words(
        "erwähnen erwähnt behandeln behandelt beschreiben beschreibt enthalten enthält nennen nennt"
        " gesucht geprüft gelesen durchsucht verstehe frage"
    ),
    "fr": words(
        "mentionnent mentionne décrivent décrit traitent traite parlent contiennent cherché vérifié"
        " consulté comprends question"
    ),
    "es": words(
        "mencionan menciona describen describe tratan trata incluyen contienen buscado revisado"
        " consultado entiendo pregunta"
    ),
}
"""What a clause beside one that declines says of the texts and of looking there: no answer."""


@cache
def _compiled(code: str, courtesy: bool) -> re.Pattern[str]:
    return re.compile("|".join((_COURTESY if courtesy else _DECLINING)[code]))


def declines(line: Line, language: Language) -> bool:
    """Return whether a sentence says that the answer is not known or not to be found, and no more.

    >>> from aal_engine.measure.text.language import ENGLISH
    >>> from aal_engine.measure.text.normal import tokens
    >>> def told(text):
    ...     return declines(Line(text, tokens(text)), ENGLISH)
    >>> told("Not found in the provided context.")
    True
    >>> told("Refunds take thirty days, but the documents do not mention weekends.")
    False
    """
    tokens = line.tokens
    cues = _CUES.get(language.code)
    if cues is None or cues[0].isdisjoint(tokens) or cues[1].isdisjoint(tokens):
        return False
    found = _compiled(language.code, courtesy=False).search(" ".join(tokens))
    if found is None:
        return False
    start = found.string.count(" ", 0, found.start(found.lastgroup or 0))
    end = found.string.count(" ", 0, found.end()) + 1
    if not _CONTRAST[language.code].isdisjoint(tokens[end:]):
        return False
    return not (_says_before(line, start, language) or _says_after(tokens[end:], language))


def _says_before(line: Line, start: int, language: Language) -> bool:
    """Return whether a clause before the one that declines, at `start`, answers something."""
    tokens = line.tokens
    conceding = _CONCEDING[language.code]
    if tokens[0] in conceding:
        comma = next((at for at, cut in enumerate(line.cuts[: start + 1]) if at and cut), None)
        return comma is None or _answers(tokens[1:comma], language)
    links = _CONTRAST[language.code] | (conceding - words("bien même während while"))
    for place in range(min(start, len(tokens) - 1), 0, -1):
        if tokens[place] in links or ";" in line.gap(place):
            return _answers(tokens[:place], language)
    return False


def _says_after(tokens: Sequence[str], language: Language) -> bool:
    """Return whether a conclusion behind a clause that declines answers something."""
    for place, word in enumerate(tokens):
        if word in _CONCLUDING[language.code]:
            return _answers(tokens[place + 1 :], language)
    return False


def _answers(tokens: Sequence[str], language: Language) -> bool:
    """Return whether a clause has the words of a claim, and tells neither of texts nor whom to ask."""
    return (
        _SEARCHING[language.code].isdisjoint(tokens)
        and len(term_set(tokens, language)) >= LEAST_SAID
        and not is_courtesy(tokens, language)
        and _compiled(language.code, courtesy=False).search(" ".join(tokens)) is None
    )


def is_courtesy(tokens: Sequence[str], language: Language) -> bool:
    """Return whether a sentence leaves an abstention one: whom to ask, what the texts hold instead."""
    if language.code not in _COURTESY:
        return False
    return _compiled(language.code, courtesy=True).search(" ".join(tokens)) is not None
