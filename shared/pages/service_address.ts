/** Where a service listens on its machine, as the shell of the page says. */
export function addressOf(service: "assay-agent" | "assay-eval"): string {
  const meta = globalThis.document?.querySelector<HTMLMetaElement>(`meta[name="${service}"]`);
  return meta?.content ?? "";
}
