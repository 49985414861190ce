/** Drawn on a grid of 16 by 16, as strokes in the colour of the text. */
const PATHS = {
  plus: "M8 3v10M3 8h10",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.5-1.5L14 14",
  settings:
    "M2 5h6m4 0h2M2 11h2m4 0h6M10 7a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM6 13a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z",
  send: "M8 13V3M3.5 7.5 8 3l4.5 4.5",
  stop: "M4 4h8v8H4z",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  check: "m3 8.5 3.5 3.5L13 4.5",
  retry: "M13 8a5 5 0 1 1-1.5-3.5L13 6M13 2.5V6H9.5",
  edit: "m10.5 3 2.5 2.5L5.5 13H3v-2.5zM9 4.5 11.5 7",
  trash: "M2.5 4.5h11M6 4.5v-2h4v2m-6 0 .5 9h7l.5-9",
  download: "M8 2.5V10M4.5 7 8 10.5 11.5 7M3 13.5h10",
  upload: "M8 10.5V3M4.5 6 8 2.5 11.5 6M3 13.5h10",
  down: "m4 6 4 4 4-4",
  left: "m10 4-4 4 4 4",
  right: "m6 4 4 4-4 4",
  close: "m4 4 8 8m0-8-8 8",
  menu: "M2.5 4h11m-11 4h11m-11 4h11",
  more:
    "M3.8 8a.5.5 0 1 1-1 0 .5.5 0 0 1 1 0Zm4.700 0a.5.5 0 1 1-1 0 .5.5 0 0 1 1 0Zm4.700 0a.5.5 0 1 1-1 0 .5.5 0 0 1 1 0Z",
  sun:
    "M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8 1.5v1m0 11v1m6.5-6.5h-1m-11 0h-1m11.1-4.6-.7.7m-7.8 7.8-.7.7m9.2 0-.7-.7M4.1 4.1l-.7-.7",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5Z",
  monitor: "M2 3h12v8H2zm4 10.5h4M8 11v2.5",
  columns: "M2.5 3h11v10h-11zM8 3v10",
  tool:
    "M9.5 3.2a3.3 3.3 0 0 1 4.3 4.3l-2-.4-.9-.9-.4-2Zm0 0a3.3 3.3 0 0 0-.7 3.6L3 12.6l.9.9 5.8-5.8",
  warning: "M8 2.5 14 13H2zM8 6.5v3M8 11.3h.01",
  test: "M6 2.5h4M7 2.5v4L3.5 13h9L9 6.5v-4M5.2 10h5.6",
  book:
    "M8 4C6.5 3 4.500 2.800 2.500 3v9.500c2-.2 4 0 5.500 1 1.500-1 3.500-1.200 5.500-1V3C11.500 2.800 9.500 3 8 4Zm0 0v9.500",
  keyboard: "M1.5 4h13v8h-13zM4 6.500h.01M6.700 6.500h.01M9.300 6.500h.01M12 6.500h.01M5 9.500h6",
  chat: "M2.500 3h11v8H7l-3 2.500V11H2.500z",
  key: "M6 10a3 3 0 1 1 2.800-4H14v2.500h-2V10h-2V8.500H8.800A3 3 0 0 1 6 10ZM5.500 7h.01",
  offline:
    "M2 6.500a9 9 0 0 1 3-1.800m3-.7a9 9 0 0 1 6 2.500M4.500 9.200a5.500 5.500 0 0 1 1.800-1.100m3.400.1a5.500 5.500 0 0 1 1.800 1M8 12h.01M2.500 2.500l11 11",
} as const;

export type IconName = keyof typeof PATHS;

/** A picture beside a text, or in a button with a label: it says nothing by itself. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill={name === "stop" ? "currentColor" : "none"}
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
