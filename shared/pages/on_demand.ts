import { signal } from "@preact/signals";

/**
 * A module that is loaded when it is first read: until then, and if it cannot be loaded, there is
 * `undefined`. A report is one file, which has no such parts unless `isInReport`.
 */
export function onDemand<T>(
  load: () => Promise<T>,
  { isInReport = false }: { isInReport?: boolean } = {},
): () => T | undefined {
  const loaded = signal<T | undefined>(undefined);
  let loading: Promise<void> | undefined;
  return () => {
    if (!loaded.value && (isInReport || globalThis.location.protocol !== "file:")) {
      loading ??= load().then(
        (module) => void (loaded.value = module),
        () => void (loading = undefined), // offline: the plain text is there
      );
    }
    return loaded.value;
  };
}
