/** The commit that a binary was compiled from; `deno task compile` writes it here while it builds. */
export const COMMIT: string = "uncompiled";
