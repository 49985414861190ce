import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

/** Whether what belongs to `root` is open. A click or the focus elsewhere closes it. */
export function useOpened(
  root: RefObject<HTMLElement | null>,
): [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(false);
  useLayoutEffect(() => {
    if (!isOpen) return;
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && !root.current?.contains(target)) setOpen(false);
    };
    document.addEventListener("pointerdown", closeOutside);
    document.addEventListener("focusin", closeOutside);
    return () => {
      document.removeEventListener("pointerdown", closeOutside);
      document.removeEventListener("focusin", closeOutside);
    };
  }, [isOpen]);
  return [isOpen, setOpen];
}
