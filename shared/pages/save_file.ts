/** Lets the browser save a text or what was fetched as a file. */
export function saveFile(name: string, content: string | Blob, type?: string): void {
  const blob = typeof content === "string" ? new Blob([content], { type: type ?? "" }) : content;
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
