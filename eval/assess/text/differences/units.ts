/** A unit of measure: quantities of one dimension can be converted. */
export interface Unit {
  name: string;
  dimension: string;
  factor: number;
}

/** One line a unit: dimension, factor, and its names in the languages known here. */
const UNITS: [dimension: string, factor: number, names: string][] = [
  ["time", 1e-6, "μs microsecond microseconds mikrosekunde mikrosekunden"],
  ["time", 1e-3, "ms msec millisecond milliseconds millisekunde millisekunden миллисекунд мс 毫秒"],
  [
    "time",
    1,
    "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos секунда секунды секунд secondo secondi seconden sekund sekunder sekunda sekundy 秒",
  ],
  [
    "time",
    60,
    "min mins minute minutes minuten minuto minutos минута минуты минут минуту minuti minuut minut minuter minutter minuta minuty dakika 分钟 分",
  ],
  [
    "time",
    3600,
    "h hr hrs hour hours stunde stunden heure heures hora horas час часа часов ora ore uur uren timme timmar timer godzina godziny godzin godz saat 小时 時間",
  ],
  [
    "time",
    86_400,
    "day days tag tage tagen jour jours día días день дня дней giorno giorni dia dias dag dagen dagar dage dager dzień dni gün 天 日",
  ],
  [
    "time",
    604_800,
    "week weeks wk woche wochen semaine semaines semana semanas неделя недели недель неделю settimana settimane weken vecka veckor uge uger uke uker tydzień tygodnie tygodni hafta 周 週間 星期",
  ],
  [
    "time",
    2_629_800,
    "month months monat monate monaten mois mes meses месяц месяца месяцев mese mesi mês maand maanden månad månader måned måneder miesiąc miesiące miesięcy 个月 ヶ月 か月",
  ],
  [
    "time",
    31_557_600,
    "year years yr yrs jahr jahre jahren an ans année années año años год года лет anno anni ano anos jaar år rok lata lat yıl 年",
  ],
  ["length", 0.001, "mm millimetre millimetres millimeter millimeters"],
  ["length", 0.01, "cm centimetre centimetres centimeter centimeters"],
  ["length", 1, "m metre metres meter meters mètre mètres metro metros метр метра метров 米"],
  [
    "length",
    1000,
    "km kilometre kilometres kilometer kilometers kilomètre kilomètres kilómetro kilómetros км 公里",
  ],
  ["length", 0.0254, "inch inches"],
  ["length", 0.3048, "ft foot feet"],
  ["length", 0.9144, "yd yard yards"],
  ["length", 1609.344, "mi mile miles"],
  ["mass", 0.001, "mg milligram milligrams"],
  ["mass", 1, "g gram grams gramm gramme grammes gramo gramos г грамм"],
  ["mass", 1000, "kg kilo kilos kilogram kilograms kilogramm кг 公斤"],
  ["mass", 1e6, "ton tons tonne tonnes tonnen"],
  ["mass", 453.59, "lb lbs"],
  ["mass", 28.35, "oz ounce ounces"],
  ["volume", 0.001, "ml millilitre millilitres milliliter milliliters"],
  ["volume", 0.01, "cl"],
  ["volume", 1, "l litre litres liter liters litro litros литр литра литров"],
  ["volume", 3.785, "gallon gallons"],
  ["volume", 0.01479, "tbsp tablespoon tablespoons"],
  ["volume", 0.00493, "tsp teaspoon teaspoons"],
  ["area", 10_000, "ha hectare hectares hektar"],
  ["area", 4046.86, "acre acres"],
  ["frequency of a wave", 1, "hz hertz"],
  ["frequency of a wave", 1e3, "khz"],
  ["frequency of a wave", 1e6, "mhz"],
  ["frequency of a wave", 1e9, "ghz"],
  ["energy", 1, "kj"],
  ["energy", 4.184, "kcal"],
  ["energy", 3600, "kwh"],
  ["data rate", 1, "mbps"],
  ["data rate", 1000, "gbps"],
  ["data", 1e3, "kb kilobyte kilobytes"],
  ["data", 1e6, "mb megabyte megabytes"],
  ["data", 1e9, "gb gigabyte gigabytes"],
  ["data", 1e12, "tb terabyte terabytes"],
  ["speed", 1, "mph"],
  [
    "percent",
    1,
    "% percent pct prozent процент процента процентов percento porcento procent procenty procentów パーセント",
  ],
  ["degree", 1, "° degree degrees grad"],
];

const BY_NAME = new Map<string, Unit>();
for (const [dimension, factor, names] of UNITS) {
  const [name] = names.split(" ") as [string];
  for (const known of names.split(" ")) BY_NAME.set(known, { name, dimension, factor });
}

/** A pound of money; see `MASS_WORDS` in `quantities.ts`. */
export const POUND: Unit = { name: "lb", dimension: "mass", factor: 453.59 };

/** The unit of this name, in lower case. */
export function unitOf(name: string): Unit | undefined {
  return BY_NAME.get(name);
}

/** Currencies by sign, code and word. `¥` is two of them, and `$` many. */
const CURRENCIES: [codes: string, names: string][] = [
  [
    "usd cad aud nzd hkd sgd mxn brl",
    "$ dollar dollars dólar dólares доллар доллара долларов dollaro dollari dolar dolary dolarów ドル",
  ],
  ["usd", "usd buck bucks 美元"],
  ["cad", "cad"],
  ["aud", "aud"],
  ["nzd", "nzd"],
  ["hkd", "hkd 港币 港元"],
  ["sgd", "sgd"],
  ["mxn", "mxn peso pesos"],
  ["brl", "brl reais"],
  ["sek", "sek kronor"],
  ["nok dkk", "kroner"],
  ["sek nok dkk", "kr"],
  ["nok", "nok"],
  ["dkk", "dkk"],
  ["pln", "pln zł złoty złotych złote zloty"],
  ["czk", "czk kč"],
  ["huf", "huf forint"],
  ["try", "₺ tl lira"],
  ["krw", "₩ krw"],
  ["zar", "zar"],
  ["uah", "₴ uah гривень гривня гривні"],
  ["eur", "€ eur euro euros евро 欧元 ユーロ"],
  ["gbp", "£ gbp pound pounds pfund livre livres"],
  ["jpy cny", "¥"],
  ["jpy", "jpy yen 円"],
  ["cny", "cny rmb yuan 元 块"],
  ["inr", "₹ inr rupee rupees"],
  ["rub", "₽ rub ruble rubles rouble roubles рубль рубля рублей руб"],
  ["chf", "chf franken francs"],
];

const CURRENCY_BY_NAME = new Map(
  CURRENCIES.flatMap(([codes, names]) =>
    names.split(" ").map((name): [string, string[]] => [name, codes.split(" ")])
  ),
);

/** The codes of the currencies that a sign or a word may stand for. */
export function currencyOf(name: string): string[] | undefined {
  return CURRENCY_BY_NAME.get(name);
}
