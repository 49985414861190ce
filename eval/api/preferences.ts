/** Whether the client wants the answer before the work is done. RFC 7240; it may prefer more. */
export function prefersAsync(request: Request): boolean {
  const preferences = request.headers.get("prefer")?.split(",") ?? [];
  return preferences.some((one) => one.split(";")[0]?.trim().toLowerCase() === "respond-async");
}
