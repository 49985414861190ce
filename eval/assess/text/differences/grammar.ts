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

const ITALIAN_IDIOMS = set(
  "solo soltanto solamente appena oltre problema problemi dubbio",
);

const italian: Grammar = {
  isNegator: (word) =>
    /^(?:non|mai|niente|nulla|nessun[oa]?|senza|né|neanche|nemmeno|neppure)$/.test(word),
  isIdiom: (clause, at) =>
    ITALIAN_IDIOMS.has(nextContent(clause, at, italian)) ||
    /^(?:(?:resta|rimane) che|manca (?:molto|tanto))$/.test(clause.slice(at + 1, at + 3).join(" ")),
  main: set("non"),
  isPlacedAfter: false,
  stops: set(
    "il lo la i gli le l un uno una di d del dello della dell dei degli delle a ad al allo alla all " +
      "ai agli alle da dal dalla dall in nel nella nell nei nelle su sul sulla con per tra fra e ed o " +
      "che chi ci c si ne mi ti vi suo sua suoi sue nostro nostra mio mia tuo tua io lei lui noi voi " +
      "loro è sono era erano sia stato stata stati state essere sarà saranno ho ha hai abbiamo hanno " +
      "aveva avere può puoi possono possiamo posso potete deve devono devi viene vengono anche " +
      "ancora già più molto purtroppo questo questa questi qui alcun alcuna",
  ),
  light: set("penso credo"),
  openers: set("se qualora purché finché tranne salvo eccetto meno"),
  breaks: set("ma perché però poiché bensì tuttavia"),
  yes: set("sì si certo"),
  no: set("no"),
  split: (token) => token.split("'"),
};

const PORTUGUESE_IDIOMS = set("só apenas somente obstante problema problemas dúvida");
const portuguese: Grammar = {
  isNegator: (word) =>
    /^(?:não|nunca|jamais|nada|ninguém|nenhum(?:as?)?|nenhuns|sem|nem|tampouco)$/.test(word),
  isIdiom: (clause, at) =>
    PORTUGUESE_IDIOMS.has(nextContent(clause, at, portuguese)) || clause[at - 1] === "pois",
  main: set("não"),
  isPlacedAfter: false,
  stops: set(
    "o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela para com e ou que se " +
      "me te lhe lhes vos eu ele ela nós você vocês eles elas seu sua seus suas nosso nossa meu minha " +
      "este esta isto isso esse essa é são era eram foi foram ser será está estão estar estava tem " +
      "têm ter há haver pode podem posso podemos poder deve devem vai vão já ainda também mais muito " +
      "aqui infelizmente ao aos à às lo la",
  ),
  light: set("acho penso"),
  // "Se" is a pronoun, too: then a sentence is open that need not be.
  openers: set("se caso salvo exceto enquanto"),
  breaks: set("mas porque porém embora pois"),
  yes: set("sim claro"),
  no: set("não"),
};

/** "Vergeet niet te betalen" asks to pay. */
const DUTCH_REMINDERS = set("aarzel aarzelt vergeet");
const DUTCH_IDIOMS = set("alleen probleem problemen zorgen dank twijfel");
const dutch: Grammar = {
  isNegator: (word) => /^(?:niet|geen|nooit|niets|niks|niemand|nergens|zonder|noch)$/.test(word),
  isIdiom: (clause, at) =>
    DUTCH_IDIOMS.has(clause[at + 1] ?? "") || DUTCH_REMINDERS.has(clause[at - 1] ?? ""),
  isPlacedAfter: true,
  stops: set(
    "de het een t dit dat deze die er hier daar en of is zijn was waren wordt worden werd bent ben " +
      "heeft heb hebben had hebt kan kunt kunnen mag mogen moet moeten zal zult zullen zou wil in op " +
      "aan van voor met naar bij om te ten ter tot uit over door onder tegen dan ook nog al meer zeer " +
      "heel erg graag helaas wij we ik u uw je jij jouw jullie ons onze mijn hij zij ze hun haar " +
      "zich mij me hem wel",
  ),
  light: set("denk geloof"),
  openers: set("als indien tenzij behalve totdat zolang zodra mits wanneer alleen"),
  breaks: set("maar want omdat hoewel echter dus"),
  yes: set("ja jawel"),
  no: set("nee"),
};

const SCANDINAVIAN_REMINDERS = set("tveka glöm missa tøv glem nøl");
const SCANDINAVIAN_IDIOMS = set(
  "bara endast minst problem fara orsak bekymmer tvekan kun bare mindst årsag fare nøl",
);
/** Swedish, Danish and Norwegian. */
const scandinavian: Grammar = {
  isNegator: (word) =>
    /^(?:inte|ej|icke|ikke|ingen|inget|inga|intet|aldrig|aldri|ingenting|ingenstans)$/.test(word),
  isIdiom: (clause, at) =>
    SCANDINAVIAN_IDIOMS.has(clause[at + 1] ?? "") ||
    SCANDINAVIAN_REMINDERS.has(clause[at - 1] ?? ""),
  isPlacedAfter: true,
  stops: set(
    "en ett et ei den det de dem denna denne detta dette dessa disse som att at å och og eller är er " +
      "var vara være varit været vært blir bliver bli blive blev ble har hade havde hadde ha have " +
      "kan kunde kunne ska skall skal skulle vill vil ville måste må får fick fik fikk i på av af för " +
      "for med till til från fra om vid ved hos under över over jag jeg du vi ni dere han hon hun man " +
      "mig meg dig deg oss os er jer honom ham henne hende min mitt mit mina mine din ditt dit dina " +
      "dine ert era deres jeres vår vårt våra vores våre sin sitt sit sina sine här her där der då da " +
      "så också også även redan allerede ännu endnu ennå längre længere lenger mer mere mycket meget " +
      "mye tyvärr desværre dessverre gärna gerne gjerne någon något några nogen noget nogle noen noe " +
      "nu nå just lige",
  ),
  light: set("tror tycker synes"),
  openers: set(
    "om ifall såvida utom förutom förrän tills bara endast hvis medmindre undtagen dersom kun bare",
  ),
  // "Utan" is "but" as well as "without".
  breaks: set("men utan eftersom fast dock fordi dog"),
  yes: set("ja jo"),
  no: set("nej nei"),
};

const polish: Grammar = {
  isNegator: (word) =>
    /^(?:nie|nigdy|nic|niczego|nikt|nikogo|nikomu|nigdzie|żad(?:en|na|ne|nego|nej|nych|nym)|bez|ani)$/
      .test(word),
  isIdiom: (clause, at) =>
    /^(?:tylko|problemu|sprawy|problemów|wątpienia)$/.test(nextContent(clause, at, polish)) ||
    clause.slice(at + 1, at + 4).join(" ") === "ma za co",
  main: set("nie"),
  isPlacedAfter: false,
  stops: set(
    "i w we na z ze do od po o u za dla przez przy pod nad a oraz lub albo to ten ta te tego tej tym " +
      "że co jak się ja pan pani pana panu państwo państwa on ona ono my wy oni jego jej ich mój moja " +
      "nasz nasza wasz swój mi mu go je jest są był była było były być będzie będą został została " +
      "zostało zostały ma mam mają mieć można może mogą mogę możemy da też także już jeszcze bardzo " +
      "niestety tu tutaj tam proszę",
  ),
  light: set("myślę sądzę"),
  openers: set("jeśli jeżeli gdy gdyby czy chyba oprócz tylko dopóki póki zanim"),
  breaks: set("ale lecz ponieważ bo jednak natomiast"),
  yes: set("tak"),
  no: set("nie"),
};

/** The first word behind a place that has content; the others of "non è solo" tell nothing. */
function nextContent(clause: string[], at: number, { stops }: Grammar): string {
  return clause.slice(at + 1, at + 6).find((word) => !stops.has(word)) ?? "";
}

/** By language; those without words between blanks have another way, see `han_negation.ts`. */
export const GRAMMARS: Partial<Record<Language, Grammar>> = {
  en: english,
  de: german,
  fr: french,
  es: spanish,
  it: italian,
  pt: portuguese,
  nl: dutch,
  sv: scandinavian,
  pl: polish,
  ru: russian,
};
