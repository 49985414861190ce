import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/** Rows that are in the page beyond those in sight, so that scrolling shows no gaps. */
const BEYOND = 12;

/** The rows of a long list to show, and the height of all of them in pixels. */
export interface VirtualRows {
  first: number;
  /** Not included. */
  end: number;
  height: number;
}

/**
 * Which rows of a list are in sight. All rows have the same height, so that nothing has to be
 * measured: a library for rows of any height is 10 kB.
 */
export function useVirtualRows(
  frame: RefObject<HTMLElement | null>,
  { count, rowHeight }: { count: number; rowHeight: number },
): VirtualRows {
  const top = useSignal(0);
  const shown = useSignal(20);
  useLayoutEffect(() => {
    const element = frame.current!;
    const onScroll = () => void (top.value = Math.floor(element.scrollTop / rowHeight));
    const observer = new ResizeObserver(() =>
      shown.value = Math.ceil(element.clientHeight / rowHeight)
    );
    element.addEventListener("scroll", onScroll, { passive: true });
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", onScroll);
      observer.disconnect();
    };
  }, []);
  return {
    first: Math.max(0, Math.min(top.value, count) - BEYOND),
    end: Math.min(count, top.value + shown.value + BEYOND),
    height: count * rowHeight,
  };
}
