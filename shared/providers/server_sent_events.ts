/**
 * The `data` of each event of a stream. Ends where the stream ends, also in the middle of an event,
 * whose data so far is then the last. Event names, ids and comments are left out.
 */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<string> {
  let data: string[] = [];
  let rest = "";

  function* takeLines(lines: string[]): Generator<string> {
    for (const line of lines) {
      if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
      if (line !== "" || data.length === 0) continue;
      yield data.join("\n");
      data = [];
    }
  }

  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    // A carriage return at the very end waits: its line feed may come with the next piece.
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    yield* takeLines(lines);
  }
  yield* takeLines([rest.replace(/\r$/, ""), ""]);
}
