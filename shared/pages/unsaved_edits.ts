/**
 * Calls `ask` in place of going back or forward, and lets the browser ask before the page is reloaded
 * or closed. Returns what ends that. A browser without the Navigation API goes back all the same.
 */
export function holdBack(ask: () => void): () => void {
  function stay(event: NavigateEvent): void {
    if (event.navigationType !== "traverse" || !event.cancelable) return;
    event.preventDefault();
    ask();
  }
  const askOnLeaving = (event: Event) => event.preventDefault();
  const { navigation } = globalThis as { navigation?: Navigation };
  navigation?.addEventListener("navigate", stay);
  globalThis.addEventListener("beforeunload", askOnLeaving);
  return () => {
    navigation?.removeEventListener("navigate", stay);
    globalThis.removeEventListener("beforeunload", askOnLeaving);
  };
}
