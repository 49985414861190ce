import { assert, assertEquals, assertGreater, assertLessOrEqual } from "@std/assert";
import fc from "seeded-fast-check";
import { chrf } from "../../../../eval/score/scores/lexical/chrf.ts";
import { exactMatch, tokenF1 } from "../../../../eval/score/scores/lexical/squad.ts";
import {
  comparePair,
  createPairComparer,
} from "../../../../eval/score/scores/lexical/pair_scores.ts";
import { rougeL } from "../../../../eval/score/scores/lexical/rouge.ts";
import { pairScorers } from "../../../../eval/score/pair_scorers.ts";
import { MAX_PAIR_CHARACTERS, type PairScore } from "../../../../eval/score/score.ts";
import { replayVectors, runSelfTest } from "../../../../eval/score/self_test.ts";
import { words } from "../../../../eval/score/words.ts";
import {
  COMPUTE_ONLY,
  type WorkerEvent,
  type WorkerPort,
} from "../../../../shared/service/worker_call.ts";
import { anyCharacter } from "../../../fakes/any_character.ts";

const NAMES = pairScorers.map(({ name }) => name);
const LINEAR = NAMES.filter((name) => name !== "rouge_l");

/** A worker that breaks with every call but the first, which is the probe. */
function brokenWorker() {
  let calls = 0;
  const start = (): WorkerPort => {
    const port: WorkerPort = {
      onmessage: null,
      onerror: null,
      onmessageerror: null,
      postMessage({ id, input }: { id: number; input: { reply: string } }) {
        calls++;
        const isProbe = input.reply === "";
        const event = isProbe
          ? new MessageEvent("message", { data: { id, output: { scores: {}, missing: {} } } })
          : new MessageEvent("message", { data: { id, error: "Map maximum size exceeded" } });
        queueMicrotask(() => port.onmessage?.call(port as Worker, event));
      },
      terminate() {},
    };
    return port;
  };
  return { start, calls: () => calls };
}

Deno.test("what the worker cannot compute is missing with its reason, and never computed here", async () => {
  const { start } = brokenWorker();
  using pairs = createPairComparer({ start });
  // Compared on this thread it would have scores: it is the same text twice.
  const text = "alpha beta ".repeat(1000);
  const { scores, missing } = await pairs.compare({ reply: text, reference: text });
  assertEquals(scores, Object.fromEntries(NAMES.map((name) => [name, null])));
  assertEquals(
    missing,
    Object.fromEntries(NAMES.map((name) => [name, "Map maximum size exceeded"])),
  );
});

Deno.test("a text that is too long for every score is not even sent to the worker", async () => {
  const { start, calls } = brokenWorker();
  using pairs = createPairComparer({ start });
  const long = "的".repeat(MAX_PAIR_CHARACTERS + 1);
  const { scores, missing } = await pairs.compare({ reply: long, reference: "short" });
  assertEquals(new Set(Object.values(scores)), new Set([null]));
  assertEquals(missing.chrf, "the reply is longer than 200,000 characters");
  assertEquals(missing.rouge_l, "the reply is longer than 80,000 characters");
  assertEquals(calls(), 0);
});

Deno.test("between the limits only the scores whose time is a product of lengths are missing", () => {
  const reference = "word ".repeat(20_000);
  const { scores, missing } = comparePair({ reply: "word", reference });
  assertEquals(Object.keys(missing).toSorted(), ["rouge_l"]);
  assertEquals(missing.rouge_l, "the reference is longer than 80,000 characters");
  for (const name of LINEAR) assert(scores[name] !== null, name);
});

Deno.test("a score that throws is missing, and the others of the pair are not", () => {
  const fail = () => {
    throw new RangeError("Invalid array length");
  };
  const scorers = pairScorers.map((scorer) =>
    scorer.name === "chrf" ? { ...scorer, compare: fail } : scorer
  );
  const { scores, missing } = comparePair({ reply: "a b", reference: "a b" }, scorers);
  assertEquals(missing, { chrf: "it failed: Invalid array length" });
  assertEquals([scores.chrf, scores.rouge_l], [null, 1]);
});

/** One sentence per script, so that pairs share words and not only characters. */
const SENTENCES = [
  "Your order was shipped on Monday.",
  "Ваш заказ уже в пути",
  "Η παραγγελία σας είναι καθ' οδόν",
  "שכרא לך ההזמנה בדרך",
  "شكرا لك، طلبك في الطريق",
  "आपका ऑर्डर भेज दिया गया है",
  "আপনার অর্ডার পাঠানো হয়েছে",
  "உங்கள் ஆர்டர் அனுப்பப்பட்டது",
  "您的订单已经发货。",
  "ご注文の商品は発送済みです。",
  "주문하신 상품이 발송되었습니다.",
  "สินค้าของคุณถูกจัดส่งแล้ว",
  "ຄໍາສັ່ງຊື້ຂອງທ່ານ",
  "ការបញ្ជាទិញរបស់អ្នក",
  "သင့်အော်ဒါကို ပို့ပြီးပါပြီ",
  "ትዕዛዝዎ ተልኳል",
  "ձեր պատվերը ուղարկված է",
  "თქვენი შეკვეთა გაიგზავნა",
  "བཀའ་འཛིན་བཏང་ཟིན།",
  "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ",
  "👨‍👩‍👧 👍🏽 🇩🇪",
  "\ud800 half \udfff pair",
  "\0 \ufeff \u202e",
];

/** Any code units, lone surrogates included; all of Unicode; and words of every script. */
const text = fc.oneof(
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
    .map((units) => String.fromCharCode(...units)),
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.array(fc.constantFrom(...SENTENCES), { maxLength: 4 }).map((parts) => parts.join(" ")),
);

/** Texts that share some words: the reply repeats pieces of the reference. */
const pair = fc.oneof(
  fc.tuple(text, text),
  fc.tuple(text, text, text).map(([a, b, c]): [string, string] => [`${a} ${b}`, `${b} ${c}`]),
);

for (const { name, compare: score } of pairScorers) {
  Deno.test(`${name} lies between 0 and 1 for any two texts`, () => {
    fc.assert(fc.property(pair, ([reply, reference]) => {
      const value = score(reply, reference);
      assert(value !== null && value >= 0 && value <= 1, `${value}`);
    }));
  });

  Deno.test(`${name} of a text with itself is 1`, () => {
    fc.assert(fc.property(text, (same) => {
      assertEquals(score(same, same), 1);
    }));
  });

  Deno.test(`${name} of two empty texts is 1, and 0 if only one is empty`, () => {
    assertEquals([score("", ""), score("", "a b"), score("a b", "")], [1, 0, 0]);
  });

  Deno.test(`${name} takes texts of 1 MB`, () => {
    const long = "Grüße 您的订单 order ".repeat(20_000).slice(0, 500_000) + "x".repeat(500_000);
    const value = score(long, `${long} and one more`);
    assert(value !== null && value >= 0 && value <= 1);
  });
}

for (
  const name of ["exact_match", "token_f1", "rouge_l"]
) {
  Deno.test(`${name} is symmetric`, () => {
    const score = pairScorers.find((scorer) => scorer.name === name)!.compare;
    fc.assert(fc.property(pair, ([reply, reference]) => {
      const [there, back] = [score(reply, reference), score(reference, reply)];
      assert(Math.abs(there! - back!) < 1e-12, `${there} and ${back}`);
    }));
  });
}

for (const sentence of SENTENCES.slice(0, 20)) {
  Deno.test(`a script is not lost: "${sentence}" has words, and half of it scores between`, () => {
    assert(words(sentence).length > 1);
    const half = [...sentence].slice(0, Math.ceil(sentence.length / 2)).join("");
    const value = rougeL(`${sentence} ${half}`, sentence);
    assert(value > 0 && value < 1, `${value}`);
  });
}

Deno.test("texts without a word are compared as they are", () => {
  assertEquals([rougeL("...", "..."), rougeL(" ", "\n"), rougeL("...", "?")], [1, 1, 0]);
  assertEquals(chrf(" ", "\n"), 1);
});

const WORKER = new URL(
  "../../../../eval/score/scores/lexical/long_text_worker.ts",
  import.meta.url,
);

Deno.test("a long-text worker that is killed, idle or at work, costs no score", async () => {
  const started: Worker[] = [];
  const start = (): WorkerPort => {
    const worker = new Worker(WORKER, COMPUTE_ONLY);
    started.push(worker);
    return worker;
  };
  const kill = () => {
    const worker = started.at(-1)!;
    worker.terminate();
    worker.dispatchEvent(new ErrorEvent("error", { message: "killed", cancelable: true }));
  };
  const events: WorkerEvent["kind"][] = [];
  using pairs = createPairComparer({ start, onEvent: ({ kind }) => events.push(kind) });
  const reference = "alpha beta gamma delta ".repeat(1000);
  const pair = { reply: `${reference}epsilon`, reference };

  const before = await pairs.compare(pair);
  kill();
  assertEquals(await pairs.compare(pair), before);
  const underWay = pairs.compare(pair);
  kill();
  assertEquals(await underWay, before);
  assertEquals([started.length, before.missing], [3, {}]);
  assertEquals(events, ["died", "restarted", "recovered", "died", "restarted", "recovered"]);
});

/** Of 152 pairs; what is left out is named in the module, so a new exception shows here. */
const COMPARED = {
  exact_match: 152,
  token_f1: 124,
  rouge_l: 59,
  chrf: 148,
};

Deno.test("every score of the table has vectors", () => {
  assertEquals(pairScorers.map(({ name }) => name), Object.keys(COMPARED));
});

for (const { name, compare } of pairScorers) {
  Deno.test(`${name} equals its reference implementation on the vectors`, () => {
    const replay = replayVectors({ [name]: compare })[name]!;
    assertLessOrEqual(replay.largest_deviation!, 1e-9);
    assertEquals(replay.compared, COMPARED[name as keyof typeof COMPARED]);
  });
}

Deno.test("a score that is wrong on one pair is detected", () => {
  const wrong = (reply: string, reference: string) =>
    reply === "42" && reference === "42" ? 0.999 : tokenF1(reply, reference);
  assertGreater(replayVectors({ token_f1: wrong }).token_f1!.largest_deviation!, 9e-4);
});

Deno.test("a score without reference values is reported as such and fails nothing", () => {
  const result = runSelfTest([...pairScorers, { name: "unknown", compare: () => 1 }]);
  assertEquals(result.scores.unknown, {
    compared: 0,
    left_out: 0,
    largest_deviation: null,
    note: "no reference",
  });
  assertEquals([result.passed, runSelfTest([]).passed], [true, true]);
});

Deno.test("a score that is null deviates", () => {
  assertEquals(replayVectors({ token_f1: () => null }).token_f1!.largest_deviation, Infinity);
});

Deno.test("what is left out is listed with its reason and its pairs", () => {
  const { left_out, passed } = runSelfTest(pairScorers);
  assertEquals(passed, true);
  for (const { pairs, reason } of left_out) assertGreater(pairs.length, 0, reason);
  const isTold = (score: string, reply: string, reference: string) =>
    left_out.some(({ scores, pairs }) =>
      scores.includes(score) &&
      pairs.some((pair) => pair.reply === reply && pair.reference === reference)
    );
  assertEquals(isTold("rouge_l", "?!", "?!"), true);
  assertEquals(isTold("token_f1", "the", "the"), true);
  assertEquals(isTold("token_f1", "你好。", "你好"), true);
  assertEquals(isTold("chrf", " ", "\n"), true);
  assertEquals(isTold("exact_match", "你好。", "你好"), false);
});

/** Texts that look alike, and what SQuAD and sacreBLEU say of them. */
const LOOKALIKES: [score: PairScore, reply: string, reference: string, value: number][] = [
  [exactMatch, "你好。", "你好", 0],
  [exactMatch, "", " ", 1],
  [exactMatch, "col·lecció", "col lecció", 0],
  [tokenF1, "col·lecció", "col lecció", 0],
  [chrf, "hello\x1f", "hello", 1],
];

for (const [score, reply, reference, value] of LOOKALIKES) {
  Deno.test(`${score.name} of ${JSON.stringify([reply, reference])} is ${value}`, () => {
    assertEquals(score(reply, reference), value);
  });
}
