/** More than adding up and dividing can lose, and less than any two scores differ by. */
export const ROUNDING = 1e-12;

/** The same for results of longer calculations. */
export const LONG_ROUNDING = 1e-9;
