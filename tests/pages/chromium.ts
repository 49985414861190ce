/** Where Debian, macOS and Windows install Chromium or Chrome. The shell needs a third less time. */
const USUAL_PATHS = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "C:/Program Files/Google/Chrome/Application/chrome.exe",
];

/** The browser for the tests of the pages: `CHROMIUM`, or a usual path; `undefined` if none exists. */
export function findChromium(): string | undefined {
  const named = Deno.env.get("CHROMIUM");
  return [...(named ? [named] : []), ...USUAL_PATHS].find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}
