import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { query, setQuery } from "../../../shared/pages/location.ts";
import type { RunSummary } from "../../results/run_summary.ts";
import { SearchField } from "../search_field.tsx";
import { isUnit, UnitInput } from "../unit_input.tsx";
import { scoreLabel } from "../words.ts";
import { FAILING, isFiltered, noFilters } from "./turn_query.ts";

const TYPING_MS = 250;

const OUTCOMES: [value: string, label: string][] = [
  ["", "All turns"],
  [FAILING, "Failing"],
  ["failed", "Failed calls"],
  ["below", "Below the threshold"],
  ["passed", "Passed"],
  ["incomplete", "Score missing"],
  ["unscored", "Not scored"],
];

/** The filters of the table of turns. They are in the address, so that a link shows the same. */
export function TurnFilters({ summary }: { summary: RunSummary }) {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const names = Object.keys(summary.statistics);
  const typed = useRef<Record<string, string>>({}); // in both fields of the range
  const later = (changes: Record<string, string>) => {
    clearTimeout(timer.current);
    Object.assign(typed.current, changes);
    timer.current = setTimeout(() => {
      setQuery(typed.current);
      typed.current = {};
    }, TYPING_MS);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <search class="filters">
      <SearchField
        label="Search messages, replies and references"
        placeholder="Search texts"
      />
      <select
        class="input auto"
        aria-label="Outcome"
        value={valueOf("outcome")}
        onChange={({ currentTarget }) => setQuery({ outcome: currentTarget.value })}
      >
        {OUTCOMES.map(([outcome, label]) => <option key={outcome} value={outcome}>{label}</option>)}
      </select>
      {names.length > 0 && (
        <span class="range">
          <select
            class="input auto"
            aria-label="Score of the range"
            value={valueOf("score") || "overall"}
            onChange={({ currentTarget }) => setQuery({ score: currentTarget.value })}
          >
            {names.map((name) => <option key={name} value={name}>{scoreLabel(name)}</option>)}
          </select>
          <Bound name="min" label="Lowest score" onInput={later} />
          <span class="muted">to</span>
          <Bound name="max" label="Highest score" onInput={later} />
        </span>
      )}
      {listLinkedFilters().map((filter) => <Chip key={filter.names[0]} {...filter} />)}
      {isFiltered() && (
        <Button kind="quiet" isSmall onClick={() => setQuery(noFilters())}>Clear filters</Button>
      )}
    </search>
  );
}

function Bound({ name, label, onInput }: {
  name: "min" | "max";
  label: string;
  onInput: (changes: Record<string, string>) => void;
}) {
  const current = query.value.get(name) ?? "";
  const input = useRef<HTMLInputElement>(null);
  const isWrong = useSignal(false);
  useEffect(() => {
    if (!input.current || document.activeElement === input.current) return;
    input.current.value = current;
    isWrong.value = false;
  }, [current]);
  return (
    <UnitInput
      inputRef={input}
      aria-label={label}
      aria-invalid={isWrong.value}
      placeholder={name === "min" ? "0" : "1"}
      defaultValue={current}
      onInput={(text) => {
        isWrong.value = !isUnit(text);
        onInput({ [name]: isWrong.value ? "" : text });
      }}
    />
  );
}

function valueOf(name: string): string {
  return query.value.get(name) ?? "";
}

/** The filters in words, for paper. */
export function describeFilters(): string {
  const [text, outcome, min, max] = ["q", "outcome", "min", "max"].map(valueOf);
  const filters = [
    text && `“${text}”`,
    outcome && (OUTCOMES.find(([value]) => value === outcome)?.[1] ?? outcome),
    (min || max) && `${scoreLabel(valueOf("score") || "overall")} ${min || 0} to ${max || 1}`,
    ...listLinkedFilters().map((filter) => filter.text),
  ];
  return filters.filter(Boolean).join(", ");
}

interface LinkedFilter {
  /** Of its parameters in the address. */
  names: [string, ...string[]];
  text: string;
}

/** The filters that came from a link. */
function listLinkedFilters(): LinkedFilter[] {
  const labels = `${valueOf("label_key")}: ${valueOf("expected")} → ${valueOf("found")}`;
  const filters: LinkedFilter[] = [
    { names: ["scenario"], text: `Scenario: ${valueOf("scenario")}` },
    { names: ["attempt"], text: `Attempt: ${valueOf("attempt")}` },
    { names: ["label_key", "expected", "found"], text: labels },
  ];
  return filters.filter(({ names: [name] }) => valueOf(name) !== "");
}

/** A filter that can only be removed. */
function Chip({ names, text }: LinkedFilter) {
  const none = Object.fromEntries(names.map((name) => [name, undefined]));
  return (
    <Button
      isSmall
      icon="close"
      aria-label={`Remove the filter ${text}`}
      onClick={() => setQuery(none)}
    >
      <span dir="auto">{text}</span>
    </Button>
  );
}
