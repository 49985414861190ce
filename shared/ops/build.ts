/** The commit that a binary was compiled from; `deno task compile` writes it into its copy. */
export const COMMIT: string = "uncompiled";
