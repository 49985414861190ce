const ROOT = new URL("../../", import.meta.url);

/** A fenced block of a page. */
export interface Block {
  language: string;
  text: string;
  /** Of its first fence, counted from 1. */
  line: number;
  /** The block follows the one before it with nothing but blank lines between them. */
  isAdjacent: boolean;
}

/** A document of the repository. */
export interface Page {
  /** Relative to the repository: `docs/errors.md`. */
  path: string;
  url: URL;
  text: string;
  blocks: Block[];
}

/** Every document that people read, the README first. */
export function readPages(): Page[] {
  const docs = [...Deno.readDirSync(new URL("docs/", ROOT))]
    .filter(({ name }) => name.endsWith(".md")).map(({ name }) => `docs/${name}`).toSorted();
  return ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ...docs].map(readPage);
}

/** One document, by its path in the repository. */
export function readPage(path: string): Page {
  const url = new URL(path, ROOT);
  const text = Deno.readTextFileSync(url);
  return { path, url, text, blocks: [...readBlocks(text)] };
}

function* readBlocks(text: string): Generator<Block> {
  let end = 0;
  for (const match of text.matchAll(/^```(.*)\n([^]*?)^```$/gm)) {
    yield {
      language: match[1]!.trim(),
      text: match[2]!,
      line: text.slice(0, match.index).split("\n").length,
      isAdjacent: end > 0 && text.slice(end, match.index).trim() === "",
    };
    end = match.index + match[0].length;
  }
}

/** The page without its fenced blocks, where nothing is a link or a heading. */
export function proseOf({ text }: Page): string {
  return text.replaceAll(/^```.*\n[^]*?^```$/gm, "");
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf(page: Page): string[] {
  const headings = [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map((match) => match[1]!);
  return headings.map((heading) =>
    heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").trim().replaceAll(" ", "-")
  );
}
