import { options } from "preact";
import { useEffect, useState } from "preact/hooks";

/** True while the page is printed. What is drawn then is drawn before the browser goes on. */
export function useIsPrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const begin = () => drawAtOnce(() => setPrinting(true));
    const end = () => setPrinting(false);
    globalThis.addEventListener("beforeprint", begin);
    globalThis.addEventListener("afterprint", end);
    return () => {
      globalThis.removeEventListener("beforeprint", begin);
      globalThis.removeEventListener("afterprint", end);
    };
  }, []);
  return isPrinting;
}

/** By itself, Preact draws a moment later. */
function drawAtOnce(change: () => void): void {
  options.debounceRendering = (draw) => draw();
  change();
  delete options.debounceRendering;
}
