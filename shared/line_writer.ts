/** Writes the lines of a log. */
interface LineWriter {
  /** At once, or within `JOIN_MS` if lines follow each other faster than that. */
  write(line: string): void;
  /** Writes the lines that wait. */
  flush(): void;
}

/** In milliseconds. */
const JOIN_MS = 10;

/**
 * Joins lines that follow each other closely into one write. A write wakes the reader of the log:
 * one per line would take a tenth of a busy agent's processor time. A process that is killed loses
 * the lines of its last `JOIN_MS`; whoever ends it otherwise must `flush`.
 *
 * Lines that `print` throws on are lost, not the process: the log may be a file on a full disk.
 * `onLost` is called with their number once lines can be written again.
 */
export function createLineWriter(
  print: (text: string) => void,
  onLost: (lines: number) => void = () => {},
): LineWriter {
  let waiting: string[] = [];
  let isJoining = false;
  let lost = 0;

  function flush(): void {
    if (waiting.length === 0) return;
    const lines = waiting;
    waiting = [];
    // A part of the last line may have been written.
    const text = (lost > 0 ? "\n" : "") + lines.join("\n");
    try {
      print(text);
    } catch {
      lost += lines.length;
      return;
    }
    if (lost === 0) return;
    const count = lost;
    lost = 0;
    onLost(count);
  }

  /** Until no line has come for a whole `JOIN_MS`. */
  function join(): void {
    isJoining = true;
    const timer = setTimeout(() => {
      isJoining = waiting.length > 0;
      flush();
      if (isJoining) join();
    }, JOIN_MS);
    Deno.unrefTimer(timer);
  }

  return {
    write(line) {
      waiting.push(line);
      if (isJoining) return;
      flush();
      join();
    },
    flush,
  };
}
