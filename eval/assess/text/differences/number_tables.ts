import type { Language } from "./language.ts";

const list = (words: string, first: number, step = 1): [string, number][] =>
  words.split(" ").map((word, index) => [word, first + index * step]);

/** A word may have several forms, joined by `/`. */
const forms = (entries: [string, number][]): Map<string, number> =>
  new Map(entries.flatMap(([words, value]) => words.split("/").map((word) => [word, value])));

/** Numbers in words, by language. */
export const WORDS: Partial<Record<Language, Map<string, number>>> = {
  en: forms([
    ...list(
      "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen " +
        "fifteen sixteen seventeen eighteen nineteen",
      0,
    ),
    ...list("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10),
    ...list("third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth", 3),
    ["first/once/single", 1],
    ["second/twice/both/couple/pair/double", 2],
  ]),
  de: forms([
    ...list(
      "null ein/eins/eine/einen/einem/einer zwei drei vier fünf sechs sieben acht neun zehn elf " +
        "zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn",
      0,
    ),
    ...list("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert", 20, 10),
    ...list("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig", 20, 10)
      .flatMap(([tens, value]) =>
        list("ein zwei drei vier fünf sechs sieben acht neun", 1)
          .map(([ones, more]): [string, number] => [`${ones}und${tens}`, value + more])
      ),
  ]),
  fr: forms([
    ...list(
      "zéro un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze " +
        "quinze seize",
      0,
    ),
    ...list("vingt trente quarante cinquante soixante", 20, 10),
    ["cent", 100],
  ]),
  es: forms([
    ...list(
      "cero un/una/uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce " +
        "quince dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés " +
        "veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve treinta",
      0,
    ),
    ...list("cuarenta cincuenta sesenta setenta ochenta noventa cien", 40, 10),
  ]),
  ru: forms([
    ...list(
      "ноль один/одна/одно/одного/одну/одной два/две/двух три/трёх/трех четыре/четырёх/четырех " +
        "пять/пяти шесть/шести семь/семи восемь/восьми девять/девяти десять/десяти одиннадцать " +
        "двенадцать/двенадцати тринадцать четырнадцать/четырнадцати пятнадцать/пятнадцати " +
        "шестнадцать семнадцать восемнадцать девятнадцать двадцать/двадцати",
      0,
    ),
    ...list("тридцать/тридцати сорок/сорока пятьдесят шестьдесят семьдесят восемьдесят", 30, 10),
    ["девяносто", 90],
    ["сто", 100],
  ]),
  it: forms([
    ...list("zero un/uno/una due tre quattro cinque sei sette otto nove dieci undici dodici", 0),
    ["quindici", 15],
    ...list("venti trenta quaranta cinquanta sessanta settanta ottanta novanta cento", 20, 10),
  ]),
  pt: forms([
    ...list("zero um/uma dois/duas três quatro cinco seis sete oito nove dez onze doze", 0),
    ["quinze", 15],
    ...list("vinte trinta quarenta cinquenta sessenta setenta oitenta noventa cem", 20, 10),
  ]),
  nl: forms([
    ...list("nul een/één twee drie vier vijf zes zeven acht negen tien elf twaalf", 0),
    ["vijftien", 15],
    ...list("twintig dertig veertig vijftig zestig zeventig tachtig negentig honderd", 20, 10),
  ]),
  sv: forms([
    ...list(
      "noll en/ett/et två/to tre fyra/fire fem sex/seks sju/syv åtta/otte/åtte nio/ni tio/ti elva/elleve " +
        "tolv",
      0,
    ),
    ...list("tretten/tretton fjorten/fjorton femten/femton seksten/sexton", 13),
    ...list("sytten/sjutton atten/arton/aderton nitten/nitton", 17),
    ...list("tjugo trettio fyrtio femtio sextio sjuttio åttio nittio hundra", 20, 10),
    ...list("tyve tredive fyrre halvtreds tres firs halvfems", 20, 10), // Danish
    ...list("tjue tretti førti femti seksti sytti åtti nitti", 20, 10), // Norwegian
  ]),
  pl: forms([
    ...list(
      "zero jeden/jedna/jedno/jednego/jedną dwa/dwie/dwóch trzy/trzech cztery/czterech pięć/pięciu " +
        "sześć/sześciu siedem/siedmiu osiem/ośmiu dziewięć/dziewięciu dziesięć/dziesięciu " +
        "jedenaście dwanaście/dwunastu",
      0,
    ),
    ["piętnaście/piętnastu", 15],
    ...list("dwadzieścia trzydzieści czterdzieści pięćdziesiąt sześćdziesiąt", 20, 10),
    ...list("siedemdziesiąt osiemdziesiąt dziewięćdziesiąt sto", 70, 10),
  ]),
};

/** Words that are numbers among other things. */
export const SOFT = new Set(
  ("one first second once twice single both couple pair double ein eins eine einen einem einer " +
    "sei um uma een één en ett et ni to jeden jedna jedno jednego jedną " +
    "un une uno una neuf один одна одно одного одну одной").split(" "),
);

/** What may stand between the words of "twenty one", in languages in which these are several. */
export const TENS_JOINED = new Map<Language, string>([
  ["en", "-"],
  ["fr", "et"],
  ["es", "y"],
  ["pt", "e"],
  ["pl", "-"],
  ["ru", "-"],
]);

/** What a number before one of these is multiplied by, in whatever language. */
export const MULTIPLIERS = forms([
  ["hundred/hundert/cientos/cents/hundre/hundrede/setek", 100],
  ["dozen/dutzend/douzaine/docena", 12],
  ["thousand/tausend/mille/mil/тысяча/тысячи/тысяч/тыс/k/千", 1e3],
  ["mila/duizend/tusen/tusind/tysiąc/tysiące/tysięcy/tys", 1e3],
  ["万/萬", 1e4],
  ["million/millions/millionen/mio/millón/millones/миллион/миллиона/миллионов/млн", 1e6],
  [
    "milione/milioni/milhão/milhões/miljoen/miljon/miljoner/millioner/milion/miliony/milionów/mln",
    1e6,
  ],
  ["亿/億", 1e8],
  ["billion/billions/bn/milliarde/milliarden/mrd/milliard/milliards/миллиард/миллиарда/млрд", 1e9],
  [
    "miliardo/miliardi/bilhão/bilhões/miljard/miljarder/milliarder/miliard/miliardy/miliardów/mld",
    1e9,
  ],
  ["trillion/trillions", 1e12],
]);
