import { assert, assertEquals } from "@std/assert";
import { eld } from "npm:eld@2.1.0/small";
import { buildLanguageTable, TABLE } from "../../../../.ci/language_table.ts";
import { identifyLanguage } from "../../../../eval/assess/language/identify_language.ts";
import { LANGUAGES } from "../../../../eval/schemas/check_kinds.ts";

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
