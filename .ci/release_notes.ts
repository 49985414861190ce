// deno-lint-ignore-file no-console -- a script speaks to its terminal
/** `release_notes.ts v0.1.0`: prints what CHANGELOG.md says of a version; exits 1 if it says nothing. */

/** The text below a version's heading, or `undefined`. */
export function notesOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`[${version}]`));
  const notes = section?.slice(section.indexOf("\n")).trim();
  return notes === "" ? undefined : notes;
}

if (import.meta.main) {
  const [tag = ""] = Deno.args;
  const notes = notesOf(Deno.readTextFileSync("CHANGELOG.md"), tag.replace(/^v/, ""));
  if (notes === undefined) {
    console.error(`cannot release ${tag}: CHANGELOG.md has no notes for it`);
    Deno.exit(1);
  }
  console.log(notes);
}
