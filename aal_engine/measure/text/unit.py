"""Units of measure as texts write them: every writing of a unit stands for one name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from aal_engine.measure.text.language import words

Names: TypeAlias = frozenset[str]

PERCENT: Final = "%"

CURRENCIES: Final[Names] = words("usd cad aud eur gbp jpy cny inr chf")

_WRITINGS: Final[Mapping[str, str]] = {
    "%": "%,percent,per cent,pct,prozent,pour cent,por ciento",
    "pp": "percentage point,percentage points,pp,prozentpunkt,prozentpunkte,puntos porcentuales",
    "usd": "$,us $,usd,dollar,dollars,us dollar,us dollars,u s dollars,dólar,dólares",
    "cad": "$,c $,ca $,cad,canadian dollars",
    "aud": "$,a $,au $,aud,australian dollars",
    "eur": "€,eur,euro,euros",
    "gbp": "£,gbp,pound,pounds,pounds sterling,pfund,livres,libras",
    "jpy": "¥,jpy,yen,円",
    "cny": "¥,cny,rmb,yuan,元",
    "inr": "₹,inr,rupee,rupees",
    "chf": "chf,franken,swiss francs,francs suisses",
    "cent": "cent,cents,¢,centimes,céntimos",
    "s": "s,sec,secs,second,seconds,sekunde,sekunden,seconde,secondes,segundo,segundos",
    "ms": "ms,millisecond,milliseconds,millisekunden,millisecondes,milisegundos",
    "min": "min,mins,minute,minutes,minuten,minuto,minutos",
    "h": "h,hr,hrs,hour,hours,stunde,stunden,std,heure,heures,hora,horas",
    "d": "d,day,days,tag,tage,tagen,jour,jours,día,días",
    "wk": "wk,wks,week,weeks,woche,wochen,semaine,semaines,semana,semanas",
    "mo": "mo,month,months,monat,monate,monaten,mois,mes,meses",
    "yr": "yr,yrs,year,years,jahr,jahre,jahren,an,ans,année,années,año,años",
    "kg": "kg,kgs,kilo,kilos,kilogram,kilograms,kilogramm,kilogramme,kilogrammes,kilogramo,kilogramos",
    "g": "g,gram,grams,gramm,gramme,grammes,gramo,gramos",
    "mg": "mg,milligram,milligrams,milligramm,milligrammes,miligramos",
    "t": "t,ton,tons,tonne,tonnes,tonnen,tonelada,toneladas",
    "lb": "lb,lbs,pound,pounds",
    "oz": "oz,ounce,ounces",
    "km": "km,kilometer,kilometers,kilometre,kilometres,kilomètre,kilomètres,kilómetro,kilómetros",
    "m": "m,meter,meters,metre,metres,mètre,mètres,metro,metros",
    "cm": "cm,centimeter,centimeters,centimetre,centimetres,zentimeter,centimètres,centímetros",
    "mm": "mm,millimeter,millimeters,millimetre,millimetres,millimètres,milímetros",
    "mi": "mi,mile,miles,meile,meilen,milles,milla,millas",
    "ft": "ft,foot,feet,fuss,pieds,pies",
    "in": "inch,inches,zoll,pouces,pulgadas",
    "l": "l,liter,liters,litre,litres,litro,litros",
    "ml": "ml,milliliter,milliliters,millilitre,millilitres,mililitros",
    "kb": "kb,kilobyte,kilobytes",
    "mb": "mb,megabyte,megabytes",
    "gb": "gb,gigabyte,gigabytes",
    "tb": "tb,terabyte,terabytes",
    "°c": "°c,° c,c,celsius,degree celsius,degrees celsius,degrees c,grad celsius,grad",
    "°f": "°f,° f,f,fahrenheit,degree fahrenheit,degrees fahrenheit,degrees f",
    "w": "w,watt,watts",
    "kw": "kw,kilowatt,kilowatts",
    "kwh": "kwh,kilowatt hour,kilowatt hours,kilowattstunde,kilowattstunden",
    "mw": "mw,megawatt,megawatts",
}


def _named() -> dict[tuple[str, ...], Names]:
    named: dict[tuple[str, ...], Names] = {}
    for name, writings in _WRITINGS.items():
        for writing in writings.split(","):
            row = tuple(writing.split())
            named[row] = named.get(row, frozenset()) | {name}
    return named


_NAMES: Final = _named()

LONGEST: Final = max(map(len, _NAMES))
"""The most tokens that a unit of the table has."""


def unit_names(tokens: Sequence[str]) -> Names:
    """Return what units a row of tokens can stand for as a whole; none where it is no known unit.

    >>> sorted(unit_names(["pounds"])), sorted(unit_names(["seats"]))
    (['gbp', 'lb'], [])
    """
    return _NAMES.get(tuple(tokens), frozenset())


SCALES: Final[Mapping[str, Mapping[str, int]]] = {
    "en": {
        "thousand": 3,
        "lakh": 5,
        "million": 6,
        "millions": 6,
        "mn": 6,
        "mln": 6,
        "mio": 6,
        "crore": 7,
        "billion": 9,
        "billions": 9,
        "bn": 9,
        "bln": 9,
        "trillion": 12,
    },
    "de": {
        "tausend": 3,
        "tsd": 3,
        "million": 6,
        "millionen": 6,
        "mio": 6,
        "milliarde": 9,
        "milliarden": 9,
        "mrd": 9,
        "billion": 12,
        "billionen": 12,
    },
    "fr": {
        "mille": 3,
        "million": 6,
        "millions": 6,
        "milliard": 9,
        "milliards": 9,
        "billion": 12,
        "billions": 12,
    },
    "es": {"mil": 3, "millón": 6, "millones": 6, "billón": 12, "billones": 12},
}
"""The powers of ten that a word after a number multiplies it by."""

MONEY_SCALES: Final[Mapping[str, int]] = {"k": 3, "m": 6, "mm": 6, "b": 9, "bn": 9, "t": 12}
"""The same for the letters behind an amount of money (`$5m`), in every language."""

GLUED_SCALES: Final[Mapping[str, int]] = {"k": 3, "K": 3, "M": 6, "B": 9}
"""The same for the letters that hang on any number, as they are written: `5m` is five metres."""
