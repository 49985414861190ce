import { createRandom } from "../../eval/figures/compare/statistics/permutation.ts";

/** Random numbers of several distributions, from a seed. */
export interface Sampler {
  /** In (0, 1). */
  uniform(): number;
  normal(): number;
  beta(a: number, b: number): number;
}

/** A seed always gives the same numbers. */
export function createSampler(seed: number): Sampler {
  const random = createRandom(seed);
  const uniform = () => (random() + 0.5) / 2 ** 32;
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());

  /** Marsaglia and Tsang (2000). */
  function gamma(shape: number): number {
    if (shape < 1) return gamma(shape + 1) * uniform() ** (1 / shape);
    const d = shape - 1 / 3;
    while (true) {
      const x = normal();
      const v = (1 + x / Math.sqrt(9 * d)) ** 3;
      if (v > 0 && Math.log(uniform()) < x * x / 2 + d - d * v + d * Math.log(v)) return d * v;
    }
  }

  function beta(a: number, b: number): number {
    const one = gamma(a);
    const other = gamma(b);
    return one + other === 0 ? Number(uniform() < a / (a + b)) : one / (one + other);
  }
  return { uniform, normal, beta };
}

/** Draws a scenario: returns a model's score in one attempt at it, raised by `better`. */
export type ScoreKind = (
  sampler: Sampler,
  scenario: { noise: number },
) => (better?: number) => number;

const clamp = (value: number) => Math.min(1, Math.max(0, value));

/** Kinds of scores whose scenarios differ in difficulty. All lie in [0, 1]. */
export const SCORE_KINDS: Record<string, ScoreKind> = {
  continuous({ normal }, { noise }) {
    const level = 0.5 + 0.1 * normal();
    return (better = 0) => clamp(level + better + 0.08 * noise * normal());
  },
  skewed({ normal, uniform }, { noise }) {
    const scale = 0.05 * Math.exp(0.5 * normal()) * noise;
    return (better = 0) => clamp(1 + Math.log(uniform()) * scale - 0.2 + better);
  },
  /** Right or wrong; 8 % are wrong. */
  "rare misses"({ beta, uniform }, { noise }) {
    const misses = noise === 1 ? 0.08 : beta(0.8, 9.2);
    return (better = 0) => uniform() < misses - better ? 0 : 1;
  },
  ordinal({ normal }, { noise }) {
    const level = 0.7 + 0.2 * normal();
    return (better = 0) => Math.round(4 * clamp(level + better + 0.2 * noise * normal())) / 4;
  },
  /** Most attempts give the same value. */
  ties({ uniform, normal }, { noise }) {
    const level = 0.5 + 0.1 * Math.round(normal());
    return (better = 0) => {
      const draw = uniform();
      if (draw > 0.2 * noise - better) return clamp(level);
      return clamp(level + (draw < 0.05 * noise ? 0.2 : -0.2));
    };
  },
  /** One call in twenty fails and counts 0. */
  failures({ normal, uniform }, { noise }) {
    const level = 0.7 + 0.1 * normal();
    return (better = 0) => uniform() < 0.05 ? 0 : clamp(level + better + 0.05 * noise * normal());
  },
};
