import type { ScoringPorts } from "../../eval/score/scoring_ports.ts";
import { compareReply } from "../../eval/score/agreement/agreement.ts";
import { createContentChecks } from "../../eval/score/content_checks.ts";
import type { Direction } from "../../eval/score/embeddings/bert/comparing.ts";
import type { Embedder } from "../../eval/score/scoring_ports.ts";
import { product, toUnit } from "../../eval/score/vectors.ts";
import type { JudgeAnswer, JudgeModel, JudgeQuestion } from "../../eval/score/judge_model.ts";
import { comparePair } from "../../eval/score/scores/lexical/pair_scores.ts";
import { words } from "../../eval/score/words.ts";

const DIMENSIONS = 4096;

/**
 * A bag of words for a vector: near is what shares words, and what is near follows. Remembers every
 * text it was given.
 */
export function fakeEmbedder(more: Partial<Embedder> = {}) {
  const positions = new Map<string, number>();
  const embedded: string[] = [];
  const embedder: Embedder = {
    method: "bag_of_words",
    embed(text) {
      embedded.push(text);
      const vector = new Float32Array(DIMENSIONS);
      for (const word of words(text)) {
        if (!positions.has(word)) positions.set(word, positions.size);
        vector[positions.get(word)! % DIMENSIONS]! += 1;
      }
      return Promise.resolve(vector);
    },
    compare: (pair) =>
      compareReply(pair, {
        windows: async (text) => [{
          vector: toUnit(await embedder.embed(text)),
          states: new Float16Array(),
          unknown: 0,
        }],
        compare(one, other) {
          const nearness = product(one.vector, other.vector);
          const direction: Direction = [nearness, 1 - nearness, 0];
          return Promise.resolve({ reply: direction, reference: direction, similarity: nearness });
        },
      }),
    [Symbol.dispose]() {},
    ...more,
  };
  return { embedder, embedded };
}

/** The nonce that a question to the judge asks to be copied. */
export function nonceOf(prompt: string): string {
  return /"nonce": "(\w+)"/.exec(prompt)![1]!;
}

/** A verdict with the nonce, as a judge should give it. */
export function withNonce(verdict: string, prompt: string): string {
  return verdict.startsWith("{") ? `{"nonce": "${nonceOf(prompt)}", ${verdict.slice(1)}` : verdict;
}

/**
 * A judge that answers by a function and records what it was asked. The nonce is added to its
 * answers, unless the answer is an object, which is sent as it is.
 */
export function fakeJudge(
  answer: (question: JudgeQuestion, call: number) => string | JudgeAnswer,
) {
  const asked: JudgeQuestion[] = [];
  const judge: JudgeModel = {
    name: "fake-judge",
    ask(question) {
      asked.push(question);
      return new Promise((resolve) => {
        const said = answer(question, asked.length);
        if (typeof said !== "string") return resolve(said);
        resolve({ text: withNonce(said, question.messages[0]!.content), isCut: false });
      });
    },
  };
  return { judge, asked };
}

/** Everything that scoring needs, without a worker. */
export function scoringPorts(more: Partial<ScoringPorts> = {}): ScoringPorts {
  return {
    pairs: { compare: comparePair, [Symbol.dispose]() {} },
    embedder: fakeEmbedder().embedder,
    checks: createContentChecks(),
    askScorer: () => Promise.reject(new Error("no scorer is expected")),
    ...more,
  };
}
