import { z } from "zod";

/** The tag of a dataset that is never exported as training data. */
export const HELD_OUT = "held-out";

/** What people call a kind of datasets. */
const DatasetTag = z.string().regex(/^\w[\w./-]{0,99}$/, {
  error: "must have 1 to 100 letters, digits, or . _ / -",
});

/** The tags of a dataset. */
export const DatasetTags = z.array(DatasetTag).max(20)
  .transform((tags) => [...new Set(tags)]);
