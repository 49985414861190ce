import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "seeded-fast-check";
import {
  DIFFERENCE_KINDS,
  type DifferenceKind,
  differencesBetween,
} from "../../../../eval/assess/text/differences.ts";
import { anyCharacter } from "../../../fakes/any_character.ts";

/** What two texts differ in; `[]`: they say the same in other words. */
const PAIRS: [reply: string, reference: string, kinds: DifferenceKind[]][] = [
  ["It takes 12 days.", "It takes twelve days.", []],
  ["We meet at 3 pm.", "We meet at 15:00.", []],
  ["It costs 1,000 dollars.", "It costs $1000.", []],
  ["Le prix est de 1 234,50 €.", "Le prix est de 1234,50 €.", []],
  ["Le prix est de 1\u202f234,50\xa0€.", "Le prix est de 1234,50 €.", []],
  ["Le prix est de 1 234,50 €.", "Le prix est de 1 234,80 €.", ["money"]],
  ["It takes 10\xa0000 steps.", "It takes 10,000 steps.", []],
  ["Es kostet 1’000 Franken.", "Es kostet 1000 Franken.", []],
  ["The shop isn't closed.", "The shop is open.", []],
  ["The dose is .5 mg.", "The dose is 0.5 mg.", []],
  ["The dose is .7 mg.", "The dose is 0.5 mg.", ["number"]],
  ["The invoice is unpaid.", "The invoice is paid.", ["antonym"]],
  ["The invoice is unpaid.", "The invoice is not paid.", []],
  ["You must unwrap the parcel.", "You must wrap the parcel.", ["antonym"]],
  ["It is cancelled unless you pay less.", "Unless you pay less, it is cancelled.", []],
  ["More than 100 people came.", "Over 100 people came.", []],
  ["All tickets are sold.", "Every ticket is sold.", []],
  ["Plan A costs more than plan B.", "Plan B costs less than plan A.", []],
  ["I need some help.", "All I need is help.", []],
  ["Nonsmoking rooms are available.", "Non-smoking rooms are available.", []],
  ["Unregistered users cannot post.", "Only registered users can post.", []],
  ["The first quarter of 2024 was good.", "Q1 2024 was good.", []],
  ["One third of users left.", "A third of users left.", []],
  ["Drink 8 cups a day.", "Drink 2 litres a day.", []],
  ["3시에 30분 동안 회의합니다.", "30분 동안 3시에 회의합니다.", []],
  ["会议下午3点30分钟。", "会议30分钟，下午3点。", []],
  ["The tumour is benign.", "The tumour is malignant.", ["antonym"]],
  ["The timeout is 500 ms.", "The timeout is 500 seconds.", ["unit"]],
  ["The timeout is 1500 ms.", "The timeout is 1.5 s.", []],
  ["Add 2 tbsp of oil.", "Add 2 tsp of oil.", ["unit"]],
  ["Add 3 teaspoons of oil.", "Add 1 tablespoon of oil.", []],
  ["The CPU runs at 3.2 GHz.", "The CPU runs at 3200 MHz.", []],
  ["It costs 12 CAD.", "It costs 12 USD.", ["money"]],
  ["It costs 12 CAD.", "It costs $12.", []],
  ["Custa R$ 50.", "Custa 50 reais.", []],
  ["会议在下午3点30分开始。", "会议在15:30开始。", []],
  ["会议在下午3点30分开始。", "会议在15:00开始。", ["time"]],
  ["会議は午前9時15分です。", "会議は9:15です。", []],
  ["회의는 오후 2시 30분입니다.", "회의는 14:30입니다.", []],
  ["가게는 오전 9시에 엽니다.", "가게는 오후 9시에 엽니다.", ["time"]],
  ["마감일은 2024년 5월 17일입니다.", "마감일은 2024-05-17입니다.", []],
  ["마감일은 5월 17일입니다.", "마감일은 6월 17일입니다.", ["date"]],
  ["L'appuntamento è il 12 settembre.", "L'appuntamento è il 12 novembre.", ["date"]],
  ["A consulta é no dia 8 de fevereiro.", "A consulta é no dia 8 de janeiro.", ["date"]],
  ["De afspraak is op 3 maart.", "De afspraak is op 3 mei.", ["date"]],
  ["Spotkanie jest 15 kwietnia.", "Spotkanie jest 15 sierpnia.", ["date"]],
  ["Toplantı 20 Ekim'de.", "Toplantı 20 Kasım'da.", ["date", "name"]], // capitals look like names
  ["5. März 2024", "2024-03-05", []],
  ["You need 1½ cups of rice.", "You need 1.5 cups of rice.", []],
  ["You need 1½ cups of rice.", "You need 2½ cups of rice.", ["number"]],
  ["You need 1 1/2 cups of rice.", "You need 1.5 cups of rice.", []],
  ["It takes 1 1/2 hours.", "It takes 90 minutes.", []],
  ["One thousand two hundred people came.", "1,200 people came.", []],
  ["Two thousand five hundred and ten people came.", "2,510 people came.", []],
  ["Two hundred and five thousand people came.", "205,000 people came.", []],
  ["**Yes**, it is included.", "No, it is not.", ["negation"]],
  ["**No** parking fee is charged.", "Yes, parking is free.", []],
  ["Take it twice a day.", "Take it once a day.", ["number"]],
  ["Take it 2 times a day.", "Take it twice a day.", []],
  ["Take it three times a day.", "Take it once a day.", ["number"]],
  ["Once a parcel is lost, call twice.", "Call two times once it is lost.", []],
  ["가격은 3만 원입니다.", "가격은 30,000원입니다.", []],
  ["가격은 5천만원입니다.", "가격은 50,000,000원입니다.", []],
  ["가격은 3만 원입니다.", "가격은 5만 원입니다.", ["number"]],
  ["가격은 3만 5천 원입니다.", "가격은 35,000원입니다.", []],
  ["매출은 12억 5천만 원입니다.", "매출은 1,250,000,000원입니다.", []],
  ["料金は3万5千円です。", "料金は35,000円です。", []],
  ["料金は1万2000円です。", "料金は12,000円です。", []],
  ["料金は3万5千円です。", "料金は3万6千円です。", ["money"]],
  ["价格是三万五千元。", "价格是35000元。", []],
  ["The answer is C.", "The answer is B.", ["name"]],
  ["C", "(B)", ["name"]],
  ["Option B: it is cheaper.", "**B**", []],
  ["Neither option A nor option B.", "Option C.", []],
  ["答案是C", "答案：B", ["name"]],
  ["نعم، يمكنك ذلك.", "لا، لا يمكن.", ["negation"]],
  ["כן, אפשר.", "לא, אי אפשר.", ["negation"]],
  ["हाँ। यह संभव है।", "नहीं। यह संभव नहीं है।", ["negation"]],
  ["It has 1 000 000 readers.", "It has 1,000,000 readers.", []],
  ["It costs 12 500 euros.", "It costs €12,500.", []],
  ["It costs 12 500 euros.", "It costs €12,600.", ["money"]],
  ["We sent 3 500 ml bottles.", "We sent 3 bottles of 500 ml.", []],
  ["We sent 3 500 ml bottles.", "We sent 3 250 ml bottles.", ["number"]],
  ["It takes 5 days.", "It takes 7 days, and is tracked.", ["number"]],
  ["It takes 5 days.", "It takes 5 weeks.", ["unit"]],
  ["It takes 5 days.", "It does not take long.", []],
  ["Pay $5 on Monday.", "Pay $6 on Friday.", ["date", "money"]],
  ["We meet at 3 pm.", "We meet at 4 pm.", ["time"]],
  ["It is open.", "It is not open.", ["negation"]],
  ["It is open.", "It is closed.", ["antonym"]],
  ["Write to a@shop.example.", "Write to b@shop.example.", ["name"]],
  ["The light is not on.", "The light is on.", ["negation"]],
  ["The lights aren't on yet.", "It's on now.", ["negation"]],
  ["The doctor is here.", "No, she is not here yet.", ["negation"]],
  ["Es ist nicht da.", "Es ist da.", ["negation"]],
  ["It is not up to you.", "The server is up.", []],
  ["She is not in.", "Come in.", []],
  ["See https://intranet/a.", "See https://intranet/b.", ["name"]],
  ["See https://www.shop.example/a/.", "See shop.example/a.", []],
  ["See shop.example/a.", "See shop.example/b.", ["name"]],
  ["Open main.ts.", "Open test.ts.", []],
  ["Ask Anna about it.", "Ask Peter about it.", []], // it may begin a sentence: no name is seen
  ["You should ask Anna.", "You should ask Peter.", ["name"]],
  ["You should ask Sue.", "You should ask Tom.", ["name"]],
  ["You should ask Lata.", "You should ask Asha.", ["name"]],
  ["Grazie, il Suo ordine è partito.", "Grazie, la Sua spedizione è partita.", []],
  ["You should ask Dr. Anna.", "You should ask Dr. Peter.", []], // a point ends a sentence
  ["It takes 1 hour and 30 minutes.", "It takes 90 minutes.", []],
  ["It takes an hour and 30 minutes.", "It takes 1.5 hours.", []],
  ["He is 5 feet 10 inches tall.", "He is 70 inches tall.", []],
  ["It takes 1 year 6 months.", "It takes 18 months.", []],
  ["It takes 1 hour 30 minutes.", "It takes 1 hour 40 minutes.", ["number"]],
  ["It takes 1 hour 30 minutes.", "It takes 100 minutes.", ["number"]],
  ["It takes 1 hour, then rest for 30 minutes.", "Rest for 90 minutes.", ["number"]],
  ["يصل الطلب خلال ٣ أيام", "يصل الطلب خلال ٥ أيام", ["number"]],
  ["يصل الطلب خلال ٣٫٥ أيام", "يصل الطلب خلال 3.5 أيام", []],
  ["आपका ऑर्डर १२ दिनों में आएगा", "आपका ऑर्डर १५ दिनों में आएगा", ["number"]],
  ["ราคา ๑๒๙ บาท", "ราคา 129 บาท", []],
  ["ราคา ๑๐๐ บาท", "ราคา ๒๐๐ บาท", ["number"]],
  ["It is 15 degrees warm.", "It is 15 °C warm.", []],
  ["It is 15 °C warm.", "It is 15 °F warm.", ["number"]],
  ["Der Versand kostet nichts.", "Der Versand ist kostenlos.", []],
  ["Der Versand ist nicht kostenlos.", "Das ist ein kostenloser Versand.", ["negation"]],
  ["Ja.", "Nein.", ["negation"]],
  ["Oui", "Non, merci", ["negation"]],
  ["Sí.", "No.", ["negation"]],
  ["Sí, claro.", "No, lo siento.", ["negation"]],
  ["Sim", "Não", ["negation"]],
  ["Sì, certo.", "No.", ["negation"]],
  ["是的。", "不是。", ["negation"]],
  ["はい、可能です。", "いいえ。", ["negation"]],
  ["네.", "아니요.", ["negation"]],
  ["Oui.", "Yes.", []],
  ["Yes, it is.", "Sí.", []],
  ["No-show guests pay.", "Yes.", []],
  ["有三个。", "没有关系。", []],
  ["Non-refundable", "Non-refundable, sorry", []],
  ["Non-stop flights are available.", "Flights that are non-stop are available.", []],
  ["It does not cost more than 20 euros.", "It costs at most 20 euros.", []],
  ["It does not cost more than 20 euros.", "It costs more than 20 euros.", ["negation"]],
  ["Wir treffen uns alle zwei Wochen.", "Wir treffen uns alle drei Wochen.", ["number"]],
  ["Er arbeitet als Lehrer.", "Er arbeitet nicht als Lehrer.", ["negation"]],
  ["La película fue aburrida.", "La película no fue aburrida.", ["negation"]],
  ["La película dura tres horas.", "Dos horas.", ["number"]],
  ["The tickets are not transferable.", "Les billets ne sont pas transférables.", []],
  ["Mon frère habite à Bruxelles.", "Mon frère n'habite pas à Bruxelles.", ["negation"]],
  ["Marco Rossi does not live in Milano.", "Marco Rossi lives in Milano.", ["negation"]],
  ["Van Gogh is expensive.", "Van Gogh is cheap.", ["antonym"]],
  ["Van Gogh won't start.", "Van Gogh will start.", ["negation"]],
  ["Kostenlose Lieferung morgen", "Gratis Versand morgen", []],
  ["Lisboa needs no visa.", "Lisboa needs a visa.", ["negation"]],
  ["Marco Rossi costs ten euros.", "Marco Rossi costs twelve euros.", ["money"]],
  ["Madrid won't start.", "Madrid will start.", ["negation"]],
  ["The Van Gogh is open.", "The Van Gogh is closed.", ["antonym"]],
  ["Gluten is open", "Gluten is closed", ["antonym"]],
  ["The angle α is five degrees.", "The angle α is six degrees.", ["number"]],
  ["Call +49 (0)30 1234567.", "Call +49 30 1234567.", []],
  ["Call +1 555-123-4567.", "Call (555) 123-4567.", []],
  ["Call (555) 123-4567.", "Call +1 555-123-4567.", []],
  ["Call (555) 123-4567.", "Call +1 555-123-4568.", ["name"]],
];

for (const [reply, reference, kinds] of PAIRS) {
  const outcome = kinds.join(" and ") || "nothing";
  Deno.test(`${JSON.stringify(reply)} and ${JSON.stringify(reference)} differ in ${outcome}`, () => {
    assertEquals(differencesBetween(reply, reference), kinds);
    assertEquals(differencesBetween(reference, reply), kinds);
  });
}

interface Labelled {
  /** Any of them is right; none: the texts say the same. */
  kinds: string[];
  texts: [string, string];
}

/** A line a pair: language, kinds or `-`, reply, reference. */
function readPairs(name: string): Labelled[] {
  const path = new URL(`data/${name}.tsv`, import.meta.url);
  return Deno.readTextFileSync(path).trim().split("\n").map((line) => {
    const [, kinds, reply, reference] = line.replaceAll("\\n", "\n").split("\t");
    return { kinds: kinds === "-" ? [] : kinds!.split(","), texts: [reply!, reference!] };
  });
}

/** How many flags of a kind are right, and how many pairs of it are flagged. */
function measure(pairs: Labelled[], kind: DifferenceKind) {
  let [right, wrong, missed] = [0, 0, 0];
  for (const { kinds, texts } of pairs) {
    const found = differencesBetween(...texts);
    if (found.includes(kind)) kinds.includes(kind) ? right++ : wrong++;
    else if (kinds[0] === kind && !found.some((other) => kinds.includes(other))) missed++;
  }
  return { precision: right / (right + wrong), recall: right / (right + missed) };
}

for (const name of ["differences_development", "differences_held_out"]) {
  const pairs = readPairs(name);
  Deno.test(`at most one in a hundred equivalent pairs is flagged: ${name}`, () => {
    const equivalent = pairs.filter(({ kinds }) => kinds.length === 0);
    const flagged = equivalent.filter(({ texts }) => differencesBetween(...texts).length > 0);
    assert(equivalent.length > 60);
    assert(flagged.length <= equivalent.length / 100, JSON.stringify(flagged));
  });

  for (const kind of DIFFERENCE_KINDS) {
    Deno.test(`flags of ${kind} are right and complete to nine in ten: ${name}`, () => {
      const { precision, recall } = measure(pairs, kind);
      assert(precision >= 0.9 && recall >= 0.9, `precision ${precision}, recall ${recall}`);
    });
  }
}

Deno.test("the stated shares of right and wrong flags are those of the held-out pairs", async () => {
  const pairs = readPairs("differences_held_out");
  const flags = pairs.flatMap(({ kinds, texts }) =>
    differencesBetween(...texts).map((flag) => kinds.includes(flag))
  );
  const wrong = flags.filter((isRight) => !isRight).length;
  const different = pairs.filter(({ kinds }) => kinds.length > 0);
  const found = different.filter(({ kinds, texts }) =>
    differencesBetween(...texts).some((flag) => kinds.includes(flag))
  );
  const page = new URL("../../../../docs/scores-and-statistics.md", import.meta.url);
  const rows = (await Deno.readTextFile(page)).replaceAll(/ +/g, " ");
  assertStringIncludes(
    rows,
    `| ${found.length} of ${different.length} | ${pairs.length} pairs of our own`,
  );
  assertStringIncludes(rows, `| wrong flags | ${wrong} of ${flags.length} |`);
});

const anyText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.array(
    fc.constantFrom(
      ..."not no 5 7:30 $ € % . , - / : @ ' on in May Monday pm one half past six 不 没有 三 月 ない Anna open closed http:// 1.5 \n km N'T"
        .split(" "),
    ),
    { maxLength: 20 },
  ).map((pieces) => pieces.join(" ")),
);

Deno.test("any two texts are compared, in either order alike, and no text differs from itself", () => {
  fc.assert(fc.property(anyText, anyText, (one, other) => {
    const found = differencesBetween(one, other);
    assertEquals(found, differencesBetween(other, one));
    assertEquals(found, [...new Set(found)].sort());
    assertEquals(differencesBetween(one, `${one} `), []);
  }));
});

Deno.test("text after 20,000 characters is not read", () => {
  const filler = "word ".repeat(4000);
  assertEquals(differencesBetween(`5 ${filler}`, `7 ${filler}`), ["number"]);
  assertEquals(differencesBetween(`${filler} 5`, `${filler} 7`), []);
});
