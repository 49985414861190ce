/**
 * Refuses files that are dropped where nothing takes them: the browser would open the file in place of
 * the page, and what was entered would be gone.
 */
export function refuseDroppedFiles(): void {
  for (const type of ["dragover", "drop"] as const) {
    document.addEventListener(type, (event) => {
      const { defaultPrevented: isTaken, dataTransfer } = event;
      if (isTaken || !dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      dataTransfer.dropEffect = "none";
    });
  }
}
