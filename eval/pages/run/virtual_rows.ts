import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Rows that are in the page beyond those in sight, so that scrolling shows no gaps. */
const BEYOND = 8;

/**
 * Which rows of a list are in sight while the page scrolls. Rows have the height of their texts: each
 * is measured when it is shown, and taken to have `estimate` pixels before. `of` names what the rows
 * are: if it changes, other rows are measured. Returns the rows to show, up to `end`, and where: all
 * have `height` pixels together.
 */
export function useVirtualRows(
  content: RefObject<HTMLElement | null>,
  { count, estimate, of }: { count: number; estimate: number; of: string },
) {
  const range = useSignal({ first: 0, end: BEYOND });
  const round = useSignal(0); // of measuring
  const known = useRef({ of: "", heights: new Map<number, number>(), tops: [0] });
  if (known.current.of !== of) known.current = { of, heights: heightsOf(of), tops: [0] };
  const { heights } = known.current;
  const tops = new Array<number>(count + 1);
  tops[0] = 0;
  for (let index = 0; index < count; index++) {
    tops[index + 1] = tops[index]! + (heights.get(index) ?? estimate);
  }
  known.current.tops = tops;
  void round.value;

  const look = useRef(() => {});
  look.current = () => {
    const { tops } = known.current;
    const top = -(content.current?.getBoundingClientRect().top ?? 0);
    const first = Math.max(0, findRow(tops, top) - BEYOND);
    const end = Math.min(tops.length - 1, findRow(tops, top + globalThis.innerHeight) + 1 + BEYOND);
    if (first !== range.value.first || end !== range.value.end) range.value = { first, end };
  };
  useLayoutEffect(() => {
    const onScroll = () => look.current();
    globalThis.addEventListener("scroll", onScroll, { passive: true });
    globalThis.addEventListener("resize", onScroll);
    return () => {
      globalThis.removeEventListener("scroll", onScroll);
      globalThis.removeEventListener("resize", onScroll);
      observer.current?.disconnect();
    };
  }, []);
  useLayoutEffect(() => look.current()); // what is above may have changed

  const observer = useRef<ResizeObserver | undefined>(undefined);
  observer.current ??= new ResizeObserver((entries) => {
    const { heights, tops } = known.current;
    const scrolled = -(content.current?.getBoundingClientRect().top ?? 0);
    let above = 0;
    let hasChanged = false;
    for (const { target, borderBoxSize: [box] } of entries) {
      const index = Number((target as HTMLElement).dataset.index);
      const height = box!.blockSize;
      const before = heights.get(index) ?? (tops[index + 1] ?? 0) - (tops[index] ?? 0);
      if (height === 0 || Math.abs(height - before) < 0.5) continue;
      heights.set(index, height);
      hasChanged = true;
      if ((tops[index + 1] ?? 0) <= scrolled) above += height - before;
    }
    if (!hasChanged) return;
    round.value++;
    if (above !== 0) globalThis.scrollBy(0, above); // what is read stays where it is
  });
  const { first, end } = range.value;
  return {
    first: Math.min(first, count),
    end: Math.min(end, count),
    height: tops[count]!,
    topOf: (index: number) => tops[index]!,
    /** For the `ref` of each row that is shown, which has its index as `data-index`. */
    measure: (row: HTMLElement | null) => void (row && observer.current!.observe(row)),
  };
}

/** Measured heights by list, so that one looks the same after the back button. */
const measured = new Map<string, Map<number, number>>();
const KEPT = 4;

function heightsOf(list: string): Map<number, number> {
  const heights = measured.get(list) ?? new Map<number, number>();
  measured.delete(list);
  measured.set(list, heights);
  if (measured.size > KEPT) measured.delete(measured.keys().next().value!);
  return heights;
}

/** The row at a height, by the heights at which rows begin. */
function findRow(tops: number[], at: number): number {
  let [low, high] = [0, Math.max(0, tops.length - 2)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (tops[middle]! <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
