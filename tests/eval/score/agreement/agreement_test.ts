import { assert, assertEquals } from "@std/assert";
import { compareReply } from "../../../../eval/score/agreement/agreement.ts";
import {
  findExchanged,
  findWrongValues,
  writeValuesAlike,
} from "../../../../eval/score/agreement/wrong_values.ts";
import { createBatchSemantics } from "../../../../eval/score/batch_semantics.ts";
import { createLocalEmbedder } from "../../../../eval/score/local_encoder.ts";
import type { ScoredBatch, ScoreInput } from "../../../../eval/score/scores/scorer.ts";
import { meaning } from "../../../../eval/score/scores/semantic_similarity.ts";
import { isBarred } from "../../../../eval/test/barred.ts";
import { interaction, scenario } from "../../../fakes/eval_ports.ts";
import { fakeEmbedder } from "../../../fakes/scoring_ports.ts";
import pairs from "./data/chat_pairs.json" with { type: "json" };
import names from "./data/name_pairs.json" with { type: "json" };

const EXAMPLES: [label: string, reference: string, reply: string][] = [
  ["contradicts", "Yes, you can get a refund.", "No, you cannot get a refund."],
  ["same", "Our hotel allows small dogs.", "You're welcome to bring a small dog to our hotel."],
  ["partly", "The gym has a sauna, and members can bring a guest.", "The gym has a sauna."],
  ["adds", "The shop is closed on Sundays.", "The shop is closed on Sundays and in August."],
  ["unrelated", "The capital of Japan is Tokyo.", "It will rain tomorrow."],
  ["contradicts", "The return window is 30 days.", "The return window is 60 days."],
  ["contradicts", "The dog bit the man.", "The man bit the dog."],
];

/** Scores replies as a run does. */
function createScorer(references: string[]) {
  const embedder = createLocalEmbedder();
  const turns = references.map((reference_reply) => interaction("i", { reference_reply }));
  const semantics = createBatchSemantics([scenario("s", turns)], {
    embedder,
  });
  const batch = { semantics, changed: {} } as unknown as ScoredBatch;
  const { score } = meaning.forBatch(batch)!;
  return {
    async score(reference: string, reply: string) {
      const turn = interaction("i", { reference_reply: reference });
      const { scores, fields } = await score({ interaction: turn, reply } as ScoreInput);
      return { scores: { semantic_similarity: scores.semantic_similarity!.value! }, fields };
    },
    [Symbol.dispose]: () => embedder[Symbol.dispose](),
  };
}

async function sharePassing(
  scorer: ReturnType<typeof createScorer>,
  some: string[][],
): Promise<number> {
  const values = await Promise.all(
    some.map(async ([reference, reply]) =>
      (await scorer.score(reference!, reply!)).scores.semantic_similarity!
    ),
  );
  return values.filter((value) => value >= 0.7).length / values.length;
}

Deno.test("a reply has a label, and one that contradicts its reference stays below 0.7 and does not pass", async () => {
  using scorer = createScorer(EXAMPLES.map(([, reference]) => reference));
  for (const [label, reference, reply] of EXAMPLES) {
    const { scores, fields } = await scorer.score(reference, reply);
    assertEquals(fields?.agreement?.label, label, reply);
    const contradicts = label === "contradicts";
    assertEquals(fields?.differs_in !== undefined, contradicts, reply);
    const turn = { scores: { ...scores, overall: 1 }, ...fields };
    assertEquals(isBarred(turn), contradicts, reply);
    if (contradicts) assert(scores.semantic_similarity! < 0.7);
    assertEquals(isBarred({ ...turn, scores: { ...turn.scores, judge: 0.9 } }), false);
  }
});

Deno.test("of our chat pairs most contradictions fail and most equivalents pass", async () => {
  using scorer = createScorer(Object.values(pairs).flat().map(([reference]) => reference!));
  const passing = (...kinds: (keyof typeof pairs)[]) =>
    sharePassing(scorer, kinds.flatMap((kind) => pairs[kind]));
  assert(await passing("contradiction", "changed_value") <= 0.05);
  assert(await passing("exchanged") <= 0.1);
  assert(await passing("unrelated") === 0);
  assert(await passing("equivalent", "padded") >= 0.85);
});

Deno.test("of replies to a single word or a name few wrong ones pass, and most right ones", async () => {
  using scorer = createScorer(Object.values(names).flat().map(([reference]) => reference!));
  assert(await sharePassing(scorer, names.wrong) <= 0.05);
  assert(await sharePassing(scorer, names.right) >= 0.9);
});

Deno.test("texts that are clearly unrelated are not compared, and equal ones not even encoded", async () => {
  const asked: string[] = [];
  const { embedder } = fakeEmbedder({
    compare: (pair) =>
      compareReply(pair, {
        windows(text) {
          asked.push(text);
          const vector = text.startsWith("Bananas") ? [0, 1] : [1, 0];
          return Promise.resolve([{
            vector: Float32Array.from(vector),
            states: new Float16Array(),
            unknown: 0,
          }]);
        },
        compare: () => Promise.reject(new Error("not to be asked")),
      }),
  });
  const turn = interaction("i", { reference_reply: "The shop is open." });
  const semantics = createBatchSemantics([scenario("s", [turn])], {
    embedder,
  });
  const { score } = meaning.forBatch({ semantics, changed: {} } as unknown as ScoredBatch)!;
  const equal = await score({ interaction: turn, reply: "the shop is open." } as ScoreInput);
  assertEquals([equal.scores.semantic_similarity!.value, asked], [1, []]);
  const other = await score({ interaction: turn, reply: "Bananas are yellow." } as ScoreInput);
  assertEquals(other.fields?.agreement?.label, "unrelated");
});

Deno.test("a contradiction in one sentence of a long text is found", async () => {
  using embedder = createLocalEmbedder();
  const sentences = pairs.equivalent.slice(0, 12).map(([reference]) => reference!);
  const reference = sentences.join(" ");
  const same = await embedder.compare!({ reply: `${reference} Thank you.`, reference });
  assertEquals(same.agreement!.label, "same");
  const opposite = reference.replace("Penguins cannot fly.", "Penguins can fly very well.")
    .replace("does not cover", "covers");
  const wrong = await embedder.compare!({ reply: opposite, reference });
  assertEquals(wrong.agreement!.label, "contradicts");
});

Deno.test("among ten sentences on other subjects most contradictions are found, and few right answers called one", async () => {
  using embedder = createLocalEmbedder();
  const others = pairs.equivalent.map(([, reply]) => reply!);
  const shareContradicting = async (some: string[][]) => {
    const labels = await Promise.all(some.map(async ([reference, reply], at) => {
      const said = Array.from(
        { length: 10 },
        (_, i) => others[(at * 7 + i * 5 + 3) % others.length]!,
      )
        .filter((other) => other !== reply);
      said.splice(at % 10, 0, reply!);
      const pair = { reference: reference!, reply: said.join(" ") };
      return (await embedder.compare!(pair)).agreement!.label;
    }));
    return labels.filter((label) => label === "contradicts").length / labels.length;
  };
  assert(await shareContradicting(pairs.contradiction) >= 0.85);
  assert(await shareContradicting(pairs.equivalent) <= 0.15);
});

/** Replies that ask back, or evade, in several languages. */
const NO_ANSWERS: [reference: string, reply: string][] = [
  ["The shop is open on Sundays.", "Is the shop open on Sundays?"],
  ["Der Laden ist sonntags geöffnet.", "Ist der Laden sonntags geöffnet?"],
  ["Le magasin est ouvert le dimanche.", "Est-ce que le magasin est ouvert le dimanche ?"],
  ["La tienda abre los domingos.", "¿La tienda abre los domingos?"],
  ["Магазин открыт по воскресеньям.", "Магазин открыт по воскресеньям?"],
  ["商店星期天营业。", "商店星期天营业吗？"],
  ["店は日曜日に開いています。", "店は日曜日に開いていますか。"],
  ["المتجر مفتوح يوم الأحد.", "هل المتجر مفتوح يوم الأحد؟"],
  ["The shop is open on Sundays.", "That is a good question, please ask our team."],
  ["Der Laden ist sonntags geöffnet.", "Dazu kann ich leider nichts sagen."],
];

Deno.test("a reply that only asks, or does not answer, stays below 0.7 in every language", async () => {
  using scorer = createScorer(NO_ANSWERS.map(([reference]) => reference));
  assertEquals(await sharePassing(scorer, NO_ANSWERS), 0);
  const [question] = NO_ANSWERS[0]!;
  const same = await scorer.score(`${question} Do you want more?`, `${question} Do you want more`);
  assert(same.scores.semantic_similarity! >= 0.7);
  const asked = await scorer.score("When do you need it?", "By when do you need it?");
  assert(asked.scores.semantic_similarity! >= 0.7); // a question is expected
});

const OTHER_NAMES: [reference: string, reply: string, says?: string][] = [
  ["The bus goes to Lyon.", "Sure! The bus goes to Dijon.", "Dijon instead of Lyon"],
  ["L'ufficio è a Torino.", "L'ufficio è a Bologna.", "Bologna instead of Torino"],
  ["Biuro jest w Krakowie.", "Biuro jest w Gdańsku.", "Gdańsku instead of Krakowie"],
  ["Офис в Казани.", "Офис в Самаре.", "Самаре instead of Казани"],
  ["ドナウ川はウィーンを流れます。", "ドナウ川はプラハを流れます。", "プラハ instead of ウィーン"],
  ["このアプリはAndroidで動きます。", "このアプリはiOSで動きます。", "iOS instead of Android"],
  ["We met Anna in Rome.", "We met Anna in Rome, not in Oslo."],
  ["He lives in the United Kingdom.", "He lives in the UK."],
  ["It was written by Jane Austen.", "It was written by Austen."],
  ["Sales rose in January.", "Sales rose in Jan."],
  ["Es gibt Rabatte für Studenten.", "Es gibt Rabatte für Studierende."],
  ["Dogs are allowed.", "Pets are allowed."],
  ["The bus goes to Lyon.", "The bus goes to Lyon. The train goes to Dijon."],
];

Deno.test("a name in place of another one is named, and the reply does not pass", async () => {
  using scorer = createScorer(OTHER_NAMES.map(([reference]) => reference));
  for (const [reference, reply, says] of OTHER_NAMES) {
    const { scores, fields } = await scorer.score(reference, reply);
    assertEquals(fields?.wrong_values, says && [says], reply);
    if (says) assert(isBarred({ scores, ...fields }) && scores.semantic_similarity! < 0.7);
  }
});

const EXCHANGED: [reference: string, reply: string, says: string][] = [
  ["Cats chase mice.", "Mice chase cats.", "mice and cats exchanged"],
  ["Ada has to inform Bob.", "Bob has to inform Ada.", "bob and ada exchanged"],
  ["Copy it from A to B.", "Copy it from B to A.", "b and a exchanged"],
  [
    "First add the acid, then the water.",
    "First add the water, then the acid.",
    "water and acid exchanged",
  ],
  ["Blue means cold and red hot.", "Red means cold and blue hot.", "red and blue exchanged"],
];

for (const [reference, reply, says] of EXCHANGED) {
  Deno.test(`parts that changed places are named: ${reply}`, () => {
    assertEquals(findExchanged(reply, reference).map(({ text }) => text), [says]);
  });
}

const ALIKE: [reference: string, reply: string][] = [
  ["You need eggs, milk and flour.", "You need flour, milk and eggs."],
  ["The pool is open and the bar is closed.", "The bar is closed and the pool is open."],
  ["The capital of Peru is Lima.", "Lima is the capital of Peru."],
  ["The shop is closed on Sundays.", "On Sundays the shop is closed."],
  ["He died in Rome in 1909.", "He died in 1909 in Rome."],
  ["Pay first. Then sign.", "Sign. Then pay first."],
  ["It works.", "It works."],
  ["", "Yes."],
];

for (const [reference, reply] of ALIKE) {
  Deno.test(`parts that may change places: "${reference}" and "${reply}"`, () => {
    assertEquals(findExchanged(reply, reference), []);
  });
}

const wrong = (reply: string, reference: string) =>
  findWrongValues(reply, reference).map(({ text }) => text);

const DIFFERENT: [reference: string, reply: string, says: string][] = [
  ["Returns are accepted for 30 days.", "You have 60 days.", "60 days instead of 30 days"],
  ["Your order number is 48213.", "It is 48231.", "48231 instead of 48213"],
  ["It costs $45.", "It costs $54.", "$54 instead of $45"],
  ["The rent is 900 euros.", "The rent is 900 dollars.", "900 dollars instead of 900 euros"],
  ["It takes 20 minutes.", "It takes 20 seconds.", "20 seconds instead of 20 minutes"],
  ["Das dauert 20 Minuten.", "Das dauert 20 Sekunden.", "20 Sekunden instead of 20 Minuten"],
  ["Set it to 180 °C.", "Set it to 180 °F.", "180 °F instead of 180 °C"],
  ["It leaves at 7:45 am.", "It leaves at 7:45 pm.", "7:45 pm instead of 7:45 am"],
  ["Due on 15 March.", "Due on March 25.", "March 25 instead of 15 March"],
  ["Le 15 mars 2024.", "Le 16/03 ou le 16 mars 2024.", "16 mars 2024 instead of 15 mars 2024"],
  ["Gate B12.", "Gate B21.", "B21 instead of B12"],
  ["订单号是 48213。", "订单号是 48231。", "48231 instead of 48213"],
  ["It is 5 miles away.", "It is 9 km away.", "9 km instead of 5 miles"],
  ["The trial lasts 30 days.", "It lasts one month, or 31 days.", "31 days instead of 30 days"],
  ["About 3 million.", "About 3 billion.", "3 billion instead of 3 million"],
  ["It earned $3 million.", "It earned $4m.", "$4m instead of $3 million"],
  ["$204.9 billion in 2022.", "It was $209.4bn.", "$209.4bn instead of $204.9 billion"],
  ["It costs $120 a year.", "It is $12 a month.", "$12 a month instead of $120 a year"],
  ["120 € im Jahr.", "Das sind 120 € im Monat.", "120 € im Monat instead of 120 € im Jahr"],
  ["Use version 2.10.", "Use version 2.1.", "2.1 instead of 2.10"],
  ["Python 3.10 is needed.", "It needs Python 3.1 or newer.", "3.1 instead of 3.10"],
  ["The PIN is 0042.", "Your PIN is 42.", "42 instead of 0042"],
  ["Call 555-123-4567.", "Call (555) 123-4568.", "(555) 123-4568 instead of 555-123-4567"],
  ["It takes 30 days.", "It takes **60** days.", "60 days instead of 30 days"],
  ["It costs $45.", "It costs $**54**.", "$54 instead of $45"],
  ["It costs $99.95.", "It costs $99.99.", "$99.99 instead of $99.95"],
  ["It takes 2 to 3 days.", "It takes 2 to 5 days.", "5 days instead of 3 days"],
  ["It takes 10-20 days.", "It takes 30 days.", "30 days instead of 10 days"],
  ["Es gibt 3 Optionen.", "Es gibt ٤ Optionen.", "4 instead of 3"],
  ["费用是3万元。", "费用是4万元。", "4万元 instead of 3万元"],
  ["需要20分钟左右。", "需要20小时左右。", "20小时 instead of 20分钟"],
  ["Это стоит 300 рублей.", "Это стоит 300 гривень.", "300 гривень instead of 300 рублей"],
  ["Wir öffnen um 9.30 Uhr.", "Wir öffnen um 10 Uhr.", "10 Uhr instead of 9.30 Uhr"],
  ["Le train part à 15 h.", "Il part à 17h00.", "17h00 instead of 15 h"],
  ["会议在下午3点开始。", "会议在上午3点开始。", "上午3点 instead of 下午3点"],
  ["15時に始まります。", "16:00に始まります。", "16:00 instead of 15時"],
  ["La renta es de 900 euros.", "Son 900 dólares.", "900 dólares instead of 900 euros"],
];

for (const [reference, reply, says] of DIFFERENT) {
  Deno.test(`a wrong value is named: ${says}`, () => {
    assertEquals(wrong(reply, reference), [says]);
  });
}

const EQUAL: [reference: string, reply: string][] = [
  ["The package weighs 2 kg.", "It weighs 2000 g."],
  ["It is 1.5 km away.", "It's 1,500 metres."],
  ["It is 5 miles away.", "It is about 8 km."],
  ["Keep it below 38 °C.", "Keep it under 100 °F."],
  ["It weighs 10 lbs.", "It weighs 4.5 kg."],
  ["Your balance is $1,250.", "You have 1250 dollars."],
  ["The film lasts 90 minutes.", "It lasts 1.5 hours."],
  ["Open from 9 am to 5 pm.", "From 9:00 to 17:00."],
  ["On 3 May 2024.", "On May 3rd."],
  ["It costs 1 250 kr.", "It costs 1250 kr."],
  ["Three items.", "There are 3 items in 2 boxes."],
  ["3 items.", "There are three items in 2 boxes."],
  ["The trial lasts 14 days.", "It lasts two weeks. Call 555-0142."],
  ["Save, then restart.", "1. Save.\n2. Restart."],
  ["Version 2.10.1 fixes it.", "It is fixed in v2.10.1."],
  ["It costs $12 and has 5 users.", "It costs $12."],
  ["It earned $3 million.", "It earned $3m."],
  ["It earned $204.9 billion.", "It was $204.9bn in all."],
  ["Call +1 555 123 4567.", "Call +1 (555) 123-4567."],
  ["Call 555-123-4567.", "Call 555.123.4567 by 5 pm."],
  ["Rufen Sie 030 1234567 an.", "Die Nummer ist +49 30 1234567."],
  ["It costs $120 a year.", "It costs $10 a month."],
  ["120 € im Jahr.", "Das sind 10 € pro Monat."],
  ["C'est 120 € par an.", "C'est 10 € par mois."],
  ["It costs $2.10.", "It costs $2.1."],
  ["It costs $39.", "$39. Delivery takes 2 to 3 days."],
  ["It takes 3-5 days.", "It takes 3 to 5 days."],
  ["It lasts 90 days.", "It lasts three months."],
  ["I want the blue one.", "I want the blue one, not 2."],
  ["Nous avons 30 clients.", "Nous avons des 30 clients le 5 mai."],
  ["费用是3万元。", "费用是30000元。"],
  ["Es kostet 2,5 Mio. Euro.", "Das sind 2.500.000 Euro."],
  ["It costs 42 cents.", "It costs $0.42."],
  ["Das kostet 1.250 zł.", "Der Preis: 1250 PLN."],
  ["价格是¥100。", "价格是100元。"],
  ["料金は¥1200です。", "料金は1,200円です。"],
  ["Заказ стоит 1 500 рублей.", "Стоимость — 1500 ₽."],
  ["Wir öffnen um 15 Uhr.", "Ab 15:00 Uhr ist offen."],
  ["La réunion commence à 15 h.", "Elle débute à 15h00."],
  ["Cela dure 2 h.", "Cela dure 120 minutes."],
  ["会议在下午3点开始。", "会议15:00开始。"],
  ["오후 3시에 시작합니다.", "15시에 시작합니다."],
  ["準備に3時間かかります。", "3時間で準備できます。"],
];

for (const [reference, reply] of EQUAL) {
  Deno.test(`no value is wrong: "${reference}" and "${reply.replace("\n", " ")}"`, () => {
    assertEquals(wrong(reply, reference), []);
  });
}

Deno.test("values that are the same are written as the reference has them", () => {
  assertEquals(
    writeValuesAlike("It's 1,500 metres, and 3 floors up.", "1.5 km away, on floor 3."),
    "It's 1.5 km, and 3 floors up.",
  );
  assertEquals(writeValuesAlike("10000 came.", "Around 10,000 came."), "10,000 came.");
});

Deno.test("at most one of a hundred pairs that say the same has a wrong value", async () => {
  const table = await Promise.all(
    ["development", "held_out"].map((part) =>
      Deno.readTextFile(new URL(`data/differences_${part}.tsv`, import.meta.url))
    ),
  );
  const same = table.flatMap((text) => text.trim().split("\n")).map((line) => line.split("\t"))
    .filter(([, kind]) => kind === "-").map(([, , reference, reply]) => [reference!, reply!]);
  const all = [...same, ...pairs.equivalent, ...pairs.padded];
  const alarms = all.filter(([reference, reply]) => wrong(reply!, reference!).length > 0);
  assertEquals(alarms.length <= all.length / 100, true, `${alarms.length} of ${all.length}`);
});
