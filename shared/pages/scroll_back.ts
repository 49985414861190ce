/** What shows that the person scrolls by themselves. */
const OWN_SCROLLING = ["wheel", "touchmove", "pointerdown", "keydown"];

/**
 * Scrolls to where the person was, as soon as the content has grown that long. Ends there, when the
 * person scrolls, or when the returned function is called.
 */
export function scrollBackTo(
  top: number,
  { scroller, content }: { scroller: Element; content: Element },
): () => void {
  const observer = new ResizeObserver(() => {
    scroller.scrollTop = top;
    if (scroller.scrollTop >= top - 1) stop();
  });
  function stop(): void {
    observer.disconnect();
    for (const name of OWN_SCROLLING) globalThis.removeEventListener(name, stop);
  }
  for (const name of OWN_SCROLLING) globalThis.addEventListener(name, stop, { passive: true });
  observer.observe(content);
  return stop;
}
