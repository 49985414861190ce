import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Checkbox } from "../../../shared/pages/components/field.tsx";
import { Dialog } from "../../../shared/pages/components/dialog.tsx";
import { formatCount, formatDuration, formatScore } from "../../../shared/pages/format.ts";
import { keepChoice, readChoice } from "../../../shared/pages/storage.ts";
import type { TurnRow } from "../../run/events/turn_view.ts";
import { OUTCOMES, scoreLabel } from "../words.ts";

/** A column of the table of turns. */
export interface TurnColumn {
  name: string;
  label: string;
  /** What the service sorts by; none if it cannot. */
  sort?: string;
  isNumber?: boolean;
  /** Of the grid. */
  width: string;
  cell: (turn: TurnRow) => ComponentChildren;
}

const text = (value: unknown) => typeof value === "string" ? value.replaceAll(/\s+/g, " ") : "";

const FIXED: TurnColumn[] = [
  {
    name: "outcome",
    label: "Outcome",
    width: "112px",
    cell: ({ outcome }) => (
      <span class={`badge ${OUTCOMES[outcome].tone}`}>{OUTCOMES[outcome].label}</span>
    ),
  },
  {
    name: "message",
    label: "Message",
    width: "minmax(160px, 2fr)",
    cell: ({ interaction }) => <span dir="auto">{text(interaction?.user_message)}</span>,
  },
  {
    name: "reply",
    label: "Reply",
    width: "minmax(200px, 3fr)",
    cell: ({ interaction, error }) =>
      error
        ? <span class="bad-text">{error}</span>
        : <span dir="auto">{text(interaction?.agent_reply)}</span>,
  },
  {
    name: "latency",
    label: "Latency",
    sort: "latency_ms",
    isNumber: true,
    width: "88px",
    cell: ({ latency_ms }) => formatDuration(latency_ms),
  },
  {
    name: "tokens",
    label: "Tokens",
    sort: "tokens",
    isNumber: true,
    width: "80px",
    cell: ({ tokens }) => tokens === null ? "–" : formatCount(tokens),
  },
];

function scoreColumn(name: string): TurnColumn {
  return {
    name: `score ${name}`,
    label: scoreLabel(name),
    sort: name,
    isNumber: true,
    width: name === "overall" ? "80px" : `${Math.max(80, name.length * 8 + 24)}px`,
    cell: ({ scores }) => formatScore(scores[name]),
  };
}

const DEFAULT = ["score overall", "outcome", "message", "reply", "latency"];

/** What the person chose; the default if nothing. */
const chosen = signal<string[] | undefined>(undefined);
export const isChoosing = signal(false);

function allColumns(scores: string[]): TurnColumn[] {
  return [...scores.map(scoreColumn), ...FIXED];
}

/** The chosen columns in the order of the table: `overall` first. */
export function turnColumns(scores: string[]): TurnColumn[] {
  chosen.value ??= readChoice<string[]>("turn-columns") ?? DEFAULT;
  const wanted = chosen.value;
  return allColumns(scores).filter(({ name }) => wanted.includes(name));
}

/** Lets the person choose the columns; the choice is kept in this browser. */
export function ColumnsDialog({ scores }: { scores: string[] }) {
  if (!isChoosing.value) return null;
  const shown = turnColumns(scores).map(({ name }) => name);
  return (
    <Dialog title="Columns" onClose={() => isChoosing.value = false}>
      <div class="choices">
        {allColumns(scores).map(({ name, label }) => (
          <Checkbox
            key={name}
            label={label}
            checked={shown.includes(name)}
            onChange={(isShown) => {
              chosen.value = isShown ? [...shown, name] : shown.filter((other) => other !== name);
              keepChoice("turn-columns", chosen.value);
            }}
          />
        ))}
      </div>
    </Dialog>
  );
}
