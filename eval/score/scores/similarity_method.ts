/**
 * How the built-in encoder compares texts, in `score_methods`. Change the version with the weights
 * of the model and with the numbers below: scores of two versions have different scales and must
 * not be averaged.
 */
export const MEANING = "meaning/m3";

/** The same for `compareWordless`. Change it with its results. */
export const WORDLESS = "answer/wordless-c7";

/** The same for references in a script that the encoder cannot read: chrF. */
export const CHARACTERS = "chrf";

/** What the figure at `THRESHOLD` becomes: the default `pass_threshold`. */
const PASS = 0.7;
/** The figure of the model that becomes 0. */
export const FLOOR = 0.05;
/** The figure that becomes `PASS`. */
export const THRESHOLD = 0.55;

/**
 * Maps a figure of the model in [0, 1] to the scale of the score: the floor, the threshold and 1
 * become 0, 0.7 and 1, linearly between them.
 */
export function calibrate(figure: number): number {
  if (figure <= FLOOR) return 0;
  if (figure <= THRESHOLD) return PASS * (figure - FLOOR) / (THRESHOLD - FLOOR);
  return PASS + (1 - PASS) * (figure - THRESHOLD) / (1 - THRESHOLD);
}
