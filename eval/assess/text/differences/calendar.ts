import type { Language } from "./language.ts";

/** A word of the calendar: weekdays from 1 (Monday), months from 1, `relative` in days from today. */
export interface CalendarWord {
  type: "weekday" | "month" | "relative" | "clock";
  value: number;
}

const WEEKDAYS: Partial<Record<Language, string>> = {
  en: "monday/mondays tuesday/tuesdays wednesday/wednesdays thursday/thursdays friday/fridays " +
    "saturday/saturdays sunday/sundays",
  de: "montag/montags dienstag/dienstags mittwoch/mittwochs donnerstag/donnerstags " +
    "freitag/freitags samstag/samstags/sonnabend sonntag/sonntags",
  fr: "lundi/lundis mardi/mardis mercredi/mercredis jeudi/jeudis vendredi/vendredis " +
    "samedi/samedis dimanche/dimanches",
  es: "lunes martes miércoles jueves viernes sábado/sábados domingo/domingos",
  ru: "понедельник/понедельникам вторник/вторникам среда/среду/средам четверг/четвергам " +
    "пятница/пятницу/пятницам суббота/субботу/субботам воскресенье/воскресеньям",
  it: "lunedì martedì mercoledì giovedì venerdì sabato/sabati domenica/domeniche",
  pt: "segunda/segundas terça/terças quarta/quartas quinta/quintas sexta/sextas sábado/sábados " +
    "domingo/domingos",
  nl: "maandag/maandags dinsdag/dinsdags woensdag/woensdags donderdag/donderdags " +
    "vrijdag/vrijdags zaterdag/zaterdags zondag/zondags",
  sv:
    "måndag/måndagar/måndagen/mandag/mandager/mandagen tisdag/tisdagar/tisdagen/tirsdag/tirsdager/tirsdagen " +
    "onsdag/onsdagar/onsdagen/onsdager torsdag/torsdagar/torsdagen/torsdager " +
    "fredag/fredagar/fredagen/fredager lördag/lördagar/lördagen/lørdag/lørdager/lørdagen " +
    "söndag/söndagar/söndagen/søndag/søndager/søndagen",
  pl: "poniedziałek/poniedziałku/poniedziałki wtorek/wtorku/wtorki środa/środę/środy " +
    "czwartek/czwartku/czwartki piątek/piątku/piątki sobota/sobotę/soboty " +
    "niedziela/niedzielę/niedziele/niedzieli",
};

const MONTHS: Partial<Record<Language, string>> = {
  en: "january/jan february/feb march/mar april/apr may june/jun july/jul august/aug " +
    "september/sep/sept october/oct november/nov december/dec",
  de: "januar februar märz april mai juni juli august september oktober november dezember",
  fr: "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
  es: "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
  ru: "январь/января/январе февраль/февраля/феврале март/марта/марте апрель/апреля/апреле " +
    "май/мая/мае июнь/июня/июне июль/июля/июле август/августа/августе " +
    "сентябрь/сентября/сентябре октябрь/октября/октябре ноябрь/ноября/ноябре " +
    "декабрь/декабря/декабре",
  it:
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
  pt: "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
  nl: "januari februari maart april mei juni juli augustus september oktober november december",
  sv:
    "januari/januar februari/februar mars/marts april maj/mai juni juli augusti/august september " +
    "oktober november december/desember",
  pl: "styczeń/stycznia/styczniu luty/lutego/lutym marzec/marca/marcu kwiecień/kwietnia/kwietniu " +
    "maj/maja/maju czerwiec/czerwca/czerwcu lipiec/lipca/lipcu sierpień/sierpnia/sierpniu " +
    "wrzesień/września/wrześniu październik/października/październiku listopad/listopada/listopadzie " +
    "grudzień/grudnia/grudniu",
};

/** Of Turkish, as they stand behind a day. */
const OTHER_MONTHS = "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık";

const RELATIVE: Partial<Record<Language, [string, number][]>> = {
  en: [["today/tonight", 0], ["tomorrow", 1], ["yesterday", -1]],
  de: [["heute", 0], ["gestern", -1]],
  fr: [["aujourd'hui", 0], ["demain", 1], ["hier", -1]],
  es: [["hoy", 0], ["ayer", -1]],
  ru: [["сегодня", 0], ["завтра", 1], ["вчера", -1]],
  it: [["oggi", 0], ["domani", 1], ["ieri", -1]],
  pt: [["hoje", 0], ["amanhã", 1], ["ontem", -1]],
  nl: [["vandaag", 0], ["gisteren", -1]],
  sv: [["idag", 0], ["imorgon", 1], ["igår", -1]],
  pl: [["dzisiaj/dziś", 0], ["jutro", 1], ["wczoraj", -1]],
};

const CLOCK: Partial<Record<Language, [string, number][]>> = {
  en: [["noon/midday", 720], ["midnight", 0]],
  de: [["mitternacht", 0]],
  fr: [["midi", 720], ["minuit", 0]],
  es: [["mediodía", 720], ["medianoche", 0]],
  ru: [["полдень", 720], ["полночь", 0]],
  it: [["mezzogiorno", 720], ["mezzanotte", 0]],
  nl: [["middernacht", 0]],
  sv: [["midnatt", 0]],
};

const TABLES = new Map<Language, Map<string, CalendarWord>>();
for (const language of ["en", "de", "fr", "es", "it", "pt", "nl", "sv", "pl", "ru"] as const) {
  const table = new Map<string, CalendarWord>();
  const add = (forms: string, word: CalendarWord) =>
    forms.split("/").forEach((form) => table.set(form, word));
  WEEKDAYS[language]!.split(" ").forEach((forms, index) =>
    add(forms, { type: "weekday", value: index + 1 })
  );
  MONTHS[language]!.split(" ").forEach((forms, index) =>
    add(forms, { type: "month", value: index + 1 })
  );
  for (const [forms, value] of RELATIVE[language]!) add(forms, { type: "relative", value });
  for (const [forms, value] of CLOCK[language] ?? []) add(forms, { type: "clock", value });
  TABLES.set(language, table);
}

const MONTH_OF_ANY = new Map<string, number>();
for (const names of [OTHER_MONTHS, ...Object.values(MONTHS)]) {
  names.split(" ").forEach((forms, index) =>
    forms.split("/").forEach((form) => MONTH_OF_ANY.set(form, index + 1))
  );
}

/**
 * The month that a word behind a day names, in whatever language: a text of few words does not say
 * which it is in. An ending may hang on it: `Ekim'de`.
 */
export function monthBehindDay(word: string): number | undefined {
  return MONTH_OF_ANY.get(word.split("'", 1)[0]!);
}

/** The calendar's words of a language, in lower case. */
export function calendarOf(language: Language): ReadonlyMap<string, CalendarWord> | undefined {
  return TABLES.get(language === "other" ? "en" : language);
}

/** Weekdays and days of Chinese and Japanese, which are not words between blanks. */
const HAN_DAYS =
  /(?:星期|周|週|礼拜)([一二三四五六日天])|([月火水木金土日])曜|(今天|今日)|(明天|明日)|(昨天|昨日)/g;

/** The weekdays and relative days in a Chinese or Japanese text. */
export function hanDays(text: string): CalendarWord[] {
  return [...text.matchAll(HAN_DAYS)].map(([, chinese, japanese, today, tomorrow]) => {
    if (chinese) {
      return { type: "weekday", value: Math.min(7, "一二三四五六日天".indexOf(chinese) + 1) };
    }
    if (japanese) return { type: "weekday", value: "月火水木金土日".indexOf(japanese) + 1 };
    return { type: "relative", value: today ? 0 : tomorrow ? 1 : -1 };
  });
}
