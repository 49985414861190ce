import type { Language } from "./language.ts";

/** What is known of a language to tell what its negations are about. */
export interface Grammar {
  isNegator(word: string): boolean;
  /** Whether a negator is a part of an idiom that denies nothing. */
  isIdiom(clause: string[], at: number): boolean;
  /** Negators beside which the others of a clause only strengthen it: `ne`, `не`. */
  main?: Set<string>;
  /** Whether a negator may stand after the word that it is about. */
  isPlacedAfter: boolean;
  /** Words without content. */
  stops: Set<string>;
  /** Verbs through which a negation passes: "do not think that it is right". */
  light: Set<string>;
  /** Words without content that may be all that is said of something: "is on", "is not here". */
  places?: { words: Set<string>; after: Set<string>; before: Set<string> };
  /** Words that make their sentence a condition or an exception. */
  openers: Set<string>;
  /** Words that begin a clause. */
  breaks: Set<string>;
  yes: Set<string>;
  no: Set<string>;
  /** A token as words, if it may be several: French joins them by apostrophes. */
  split?(token: string): string[];
}

const set = (words: string) => new Set(words.split(" ").filter(Boolean));

const ENGLISH_NEGATORS = set(
  "not no never none nobody nothing neither nor cannot without unable nowhere hardly refuse " +
    "refused refuses fail fails failed out",
);

const english: Grammar = {
  isNegator: (word) => ENGLISH_NEGATORS.has(word) || word.endsWith("n't"),
  isIdiom(clause, at) {
    const [word, next] = [clause[at]!, clause[at + 1] ?? ""];
    if (word === "out") return next !== "of" || !OUT_OF.has(clause[at + 2] ?? "");
    if (word === "no") return NO_IDIOMS.has(next);
    if (word === "not" && (next === "only" || next === "just" || clause[at - 1] === "why")) {
      return true;
    }
    if (!COULD.has(word)) return false;
    const later = clause.slice(at + 1, at + 8);
    if (later.includes("enough")) return true; // "can't recommend it enough"
    return later[0] === "be" && /er$|^more$|^better$/.test(later[1] ?? ""); // "couldn't be happier"
  },
  isPlacedAfter: false,
  stops: set(
    "a an the any some this that these those it its you your yours we our us i my me he she his her " +
      "they their them who which what there here is are was were be been being am do does did done " +
      "have has had having will would can could shall should may might must to of in on at by for " +
      "from with as and or so than then too also very really quite just even yet still already " +
      "currently now longer more much many all every each own if when while about into onto out " +
      "off up down over i'm i'll i've i'd it's you're you'll we're we'll they're that's there's " +
      "he's she's let's please sorry able going get got one ones such need needs want wants",
  ),
  light: set("think believe suppose guess"),
  places: {
    words: set("on off in up down here there"),
    after: set("is are was were be been am it's he's she's i'm we're you're they're"),
    before: set("now yet already still too"),
  },
  openers: set("if whether unless except only until apart other case"),
  breaks: set("but because although though whereas however since so"),
  yes: set("yes yeah yep sure correct"),
  no: set("no nope"),
};

/** "Out of stock" is "not in stock". */
const OUT_OF = set("stock service order office date reach");
const COULD = set("can't cannot couldn't not");
const NO_IDIOMS = set("problem problems worries doubt matter wonder idea");

const german: Grammar = {
  isNegator: (word) =>
    /^(?:nicht|nie|niemals|kein(?:e[nmrs]?)?|nichts|niemand|ohne|weder)$/.test(word),
  isIdiom: (clause, at) => clause[at + 1] === "nur" || clause[at + 1] === "problem",
  isPlacedAfter: true,
  stops: set(
    "der die das den dem des ein eine einen einem einer eines es sie wir ich er ihr ihre ihren uns " +
      "unser unsere mein meine dein sein ist sind war waren bin hat haben hatte wird werden wurde " +
      "kann können könnte soll sollte muss müssen darf dürfen in im an am auf zu zum zur nach von " +
      "vom bei mit für aus um und oder auch noch schon sehr leider bitte gibt ja hier da dann als " +
      "wie so sich mich mir ihnen ihm",
  ),
  light: set("glaube denke"),
  places: {
    words: set("an aus hier da"),
    after: set("ist sind war waren bin"),
    before: set("auch"),
  },
  openers: set("wenn falls ob außer nur bis sofern"),
  breaks: set("aber weil sondern denn jedoch"),
  yes: set("ja"),
  no: set("nein"),
};

const french: Grammar = {
  isNegator: (word) => /^(?:ne|n|pas|jamais|rien|aucune?|personne|sans|ni|non)$/.test(word),
  isIdiom: (clause, at) => clause[at + 1] === "seulement",
  main: set("ne n"),
  isPlacedAfter: true,
  stops: set(
    "le la les l un une des du de d il elle on nous vous je j tu ils elles ce c cela ça est sont " +
      "était a ai avons avez ont y en au aux à dans sur pour par avec et ou que qu qui se s me m te " +
      "notre votre nos vos mon ma mes son sa ses leur plus très bien aussi déjà encore être avoir " +
      "peut peux pouvez pouvons sera été désolé pas rien jamais",
  ),
  light: set("pense crois"),
  openers: set("si sauf seulement jusqu sinon"),
  breaks: set("mais car donc"),
  yes: set("oui"),
  no: set("non"),
  split: (token) => token.split("'"),
};

const spanish: Grammar = {
  isNegator: (word) =>
    /^(?:no|nunca|jamás|nada|nadie|ning[uú]n(?:[ao]s?)?|sin|tampoco|ni)$/.test(word),
  isIdiom: (clause, at) => clause[at + 1] === "solo" || clause[at + 1] === "sólo",
  main: set("no"),
  isPlacedAfter: false,
  stops: set(
    "el la los las un una unos unas de del al a en y o que se su sus nuestro nuestra mi tu lo le les " +
      "me te nos es son está están era fue ser estar ha han hay haber por para con como más muy ya " +
      "también puede puedo podemos pueden usted ustedes yo siento",
  ),
  light: set("creo pienso"),
  openers: set("si salvo excepto solo sólo hasta"),
  breaks: set("pero porque sino aunque"),
  yes: set("sí si claro"),
  no: set("no"),
};

const russian: Grammar = {
  isNegator: (word) => /^(?:не|нет|никогда|ничего|никто|нельзя|без|ни|никак\S*)$/.test(word),
  isIdiom: (clause, at) => clause[at + 1] === "только",
  main: set("не нет"),
  isPlacedAfter: true,
  stops: set(
    "и в во на с со по к ко у о об от до за из мы я вы он она они это этот эта ваш ваша ваши ваше наш " +
      "наша вас нас мне вам их его её что как был была было были есть будет бы же ли уже ещё также " +
      "очень можно может могут можете можем",
  ),
  light: set("думаю считаю"),
  openers: set("если кроме только пока"),
  breaks: set("но потому а однако"),
  yes: set("да"),
  no: set("нет"),
};

/** By language; those without words between blanks have another way, see `han_negation.ts`. */
export const GRAMMARS: Partial<Record<Language, Grammar>> = {
  en: english,
  de: german,
  fr: french,
  es: spanish,
  ru: russian,
};
