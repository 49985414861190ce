import { assert, assertEquals } from "@std/assert";
import { eld } from "npm:eld@2.1.0/small";
import { buildLanguageTable, TABLE } from "../../../../.ci/language_table.ts";
import { identifyLanguage, isEnglish } from "../../../../eval/score/language/language.ts";
import { LANGUAGES } from "../../../../eval/test/check_kinds.ts";

const DATA = new URL("../../../bench/data/", import.meta.url);

/** Sentences of seven languages, whole, cut off and many at once, and what is hard to cut. */
function* texts(): Generator<string> {
  for (const language of ["de", "en", "es", "fr", "ja", "ru", "zh"]) {
    const lines = Deno.readTextFileSync(new URL(`equivalent_${language}.tsv`, DATA)).split("\n");
    for (const line of lines) {
      yield line;
      yield line.slice(0, 12);
      yield line.toUpperCase();
      yield line.replace(/[ 、，]/g, "");
    }
    for (let length = 2; length < lines.length; length++) yield lines.slice(0, length).join(" ");
  }
  yield "";
  yield "12:30 – 14:00 👍";
  yield "it's o'clock 'quoted' ’tis `code`";
  yield "Il n'y a qu'à l'attendre aujourd'hui";
  yield "שלום לכולם, החבילה שלכם בדרך ותגיע מחר";
  yield "사랑하는 고객님, 주문하신 상품이 오늘 발송되었습니다";
  yield "Το δέμα σας στάλθηκε τη Δευτέρα";
  yield "आपका पार्सल सोमवार को भेजा गया था";
  yield "พัสดุของคุณถูกส่งไปเมื่อวันจันทร์";
  yield "İstanbul'a gönderildi";
}

Deno.test("a language is identified as by the package that the table is made of", () => {
  const wrong: unknown[] = [];
  const found = new Set<string>();
  for (const text of texts()) {
    const expected = eld.detect(text);
    const { code, isReliable } = identifyLanguage(text);
    found.add(code);
    if (code === expected.language && isReliable === expected.isReliable()) continue;
    wrong.push({ text, code, isReliable, expected: expected.language });
  }
  assertEquals(wrong, []);
  assert(found.size > 20, `${found.size} languages`);
});

Deno.test("the committed table is the build of the package", async () => {
  const [committed, built] = [await Deno.readFile(TABLE), await buildLanguageTable()];
  assertEquals(committed.length, built.length);
  assert(committed.every((byte, index) => byte === built[index]));
});

Deno.test("the languages of the schema are those that the detector knows", () => {
  assertEquals(Object.values(eld.info().Languages).sort(), LANGUAGES.toSorted());
});

const ENGLISH = "Where is the parcel that I ordered? Please tell me when it will arrive.";
const GERMAN = "Wo ist das Paket, das ich bestellt habe? Wann wird es ankommen?";

const ENGLISH_TEXTS: [text: string, isSo: boolean][] = [
  ["Where is the parcel that I ordered?", true],
  ["Suicide bomber kills 4 near NATO's Afghan HQ", true],
  ["I opened it.", true],
  ["Two men play guitar", true],
  ["Write to sales@example.com.", true],
  ["Non-members cannot enter.", true],
  ["Tutti possono vedere i suoi dati.", false],
  ["Paketet kommer i morgon.", false],
  ["Das Paket kommt am Montag an.", false],
  ["La livraison prend trois jours.", false],
  ["In diesem Restaurant isst man hervorragend.", false],
  ["De man opent een deur.", false],
  ["¿Puede darme su número de cliente?", false],
  ["Мужчина открывает дверь.", false],
  ["您的订单已经发货。", false],
  ["42 + 7", false],
  ["", false],
];
for (const [text, isSo] of ENGLISH_TEXTS) {
  Deno.test(`"${text}" is ${isSo ? "" : "not "}English, whatever the batch is in`, () => {
    assertEquals([isEnglish(text, ENGLISH), isEnglish(text, GERMAN)], [isSo, isSo]);
  });
}

for (
  const text of ["Hello", "Okay", "Paris", "A man is opening a door.", "The puppy is outdoor."]
) {
  Deno.test(`"${text}" goes with the batch: it does not tell its language`, () => {
    assertEquals([isEnglish(text, ENGLISH), isEnglish(text, GERMAN)], [true, false]);
  });
}

Deno.test("a few words of a batch that does not tell are English if their letters are", () => {
  assertEquals(["Hello, good day", "Schönen guten Tag"].map((text) => isEnglish(text, "Hi")), [
    ...[true, false],
  ]);
});

Deno.test("of the sentences of seven languages all are told from English, in a batch of English too", () => {
  const wrong: string[] = [];
  for (const language of ["de", "en", "es", "fr", "ja", "ru", "zh"]) {
    const page = Deno.readTextFileSync(new URL(`equivalent_${language}.tsv`, DATA));
    for (const text of page.trim().split(/[\n\t]/)) {
      if (isEnglish(text, ENGLISH) !== (language === "en")) wrong.push(text);
    }
  }
  assert(wrong.length <= 8, wrong.join("\n")); // of 840
});
