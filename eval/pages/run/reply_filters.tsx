import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { CopyButton } from "../../../shared/pages/components/copy_button.tsx";
import { formatCount } from "../../../shared/pages/format.ts";
import { query, setQuery } from "../../../shared/pages/location.ts";
import type { Run } from "../../http/schemas/run_schemas.ts";
import type { RunSummary } from "../../figures/run_summary.ts";
import { useLoaded } from "../loaded.tsx";
import { SavedFilters } from "../saved_filters.tsx";
import { isUnit, Select, UnitInput } from "../parts/fields.tsx";
import { SearchField, useTyping } from "../parts/search_field.tsx";
import { type RunAndSummary, source } from "../source.ts";
import { CONTRADICTING, modelOf, type Result, RESULTS, scoreLabel } from "../words.ts";
import { isFiltered, noFilters, toParameters } from "./turn/turn_query.ts";

/** A filter with one press: what it puts into the address. */
interface Chip {
  label: string;
  filters: Record<string, string>;
}

/** A chip for each kind of turn that a person looks for. */
function chipsOf(summary: RunSummary, before: Run | undefined): Chip[] {
  const { outcomes, statistics } = summary;
  const chips: (Chip | false | undefined)[] = [
    { label: "All", filters: {} },
    { label: "Contradicts", filters: CONTRADICTING },
    { label: "Not passed", filters: { outcome: "below" } },
    { label: "Failed", filters: { outcome: "failed" } },
    statistics.checks && { label: "Checks not met", filters: { score: "checks", max: "0.999" } },
    outcomes.missing + outcomes.unscored > 0 && {
      label: "Not scored",
      filters: { outcome: "missing,unscored" },
    },
    before && { label: `Changed since ${modelOf(before)}`, filters: { since: before.run_id } },
    source.isLive && { label: "Not graded", filters: { graded: "false" } },
    { label: "Passed", filters: { outcome: "passed" } },
  ];
  return chips.filter((chip) => typeof chip === "object");
}

const CHIP_FILTERS = [
  "outcome",
  "agreement",
  "graded",
  "since",
  "change",
  "score",
  "min",
  "max",
];

/** The chips with their counts. While a run is running they have none: its progress is the count. */
export function Chips({ run, summary, before }: RunAndSummary & {
  before?: Run | undefined;
}) {
  const chips = chipsOf(summary, before);
  const isRunning = run.status === "running";
  const counts = useLoaded(
    () =>
      isRunning ? Promise.resolve([]) : Promise.all(chips.map(async ({ filters }) => {
        const page = await source.turns(run.run_id, { ...toParameters(filters), limit: 1 });
        return page.total;
      })),
    [run.run_id, run.status, chips],
  );
  const isOn = ({ filters }: Chip) => {
    const given = CHIP_FILTERS.filter((name) => query.value.get(name));
    const names = Object.keys(filters);
    return given.length === names.length &&
      names.every((name) => query.value.get(name) === filters[name]);
  };
  const none = Object.fromEntries(CHIP_FILTERS.map((name) => [name, undefined]));
  return (
    <div class="chips" role="group" aria-label="Which turns">
      {chips.map((chip, index) => {
        const count = counts.value?.[index];
        const isEmpty = count === 0 && Object.keys(chip.filters).length > 0;
        return (
          <button
            key={chip.label}
            type="button"
            class="chip"
            aria-pressed={isOn(chip)}
            disabled={isEmpty && !isOn(chip)}
            onClick={() => setQuery({ ...none, ...chip.filters })}
          >
            <span dir="auto">{chip.label}</span>
            {typeof count === "number" && <b>{formatCount(count)}</b>}
          </button>
        );
      })}
    </div>
  );
}

/** Further filters. They are in the address, so that a link shows the same. */
export function MoreFilters({ summary, before }: {
  summary: RunSummary;
  before?: Run | undefined;
}) {
  const later = useTyping();
  const isOpen = useSignal(false);
  const names = Object.keys(summary.statistics);
  const labels = Object.keys(summary.labels);
  return (
    <>
      <SearchField label="Search messages, replies and references" placeholder="Search texts" />
      <Button
        isSmall
        icon="plus"
        aria-expanded={isOpen.value}
        onClick={() => isOpen.value = !isOpen.value}
      >
        Filter
      </Button>
      {listFilters().map((filter) => <Active key={filter.names[0]} {...filter} />)}
      {isFiltered() && (
        <>
          <Button kind="quiet" isSmall onClick={() => setQuery(noFilters())}>Clear filters</Button>
          {source.isLive && (
            <CopyButton text={globalThis.location.href} label="Copy link" hasText />
          )}
        </>
      )}
      {source.isLive && <SavedFilters of="turns" text={describeFilters()} />}
      {isOpen.value && (
        <search class="more-filters" aria-label="Further filters">
          {names.length > 0 && (
            <label class="range">
              <Select
                aria-label="Score of the range"
                options={names.map((name) => [name, scoreLabel(name)])}
                value={valueOf("score") || "overall"}
                onChoose={(score) => setQuery({ score })}
              />
              <Bound name="min" label="Lowest score" placeholder="0" isUnit onInput={later} />
              <span class="muted">to</span>
              <Bound name="max" label="Highest score" placeholder="1" isUnit onInput={later} />
            </label>
          )}
          <label class="range">
            Latency
            <Bound
              name="latency_min"
              label="Shortest latency, ms"
              placeholder="0"
              onInput={later}
            />
            <span class="muted">to</span>
            <Bound
              name="latency_max"
              label="Longest latency, ms"
              placeholder="any"
              onInput={later}
            />
            <span class="muted">ms</span>
          </label>
          {before && (
            <label class="range">
              Changed by at least
              <Bound
                name="change"
                label="Least change since the last run"
                placeholder="0.1"
                isUnit
                onInput={(changes) => later({ ...changes, since: before.run_id })}
              />
            </label>
          )}
          {labels.length > 0 && <LabelFilter summary={summary} keys={labels} />}
        </search>
      )}
    </>
  );
}

/** Turns with an expected or a found label of a metadata key. */
function LabelFilter({ summary, keys }: { summary: RunSummary; keys: string[] }) {
  const key = valueOf("label_key") || keys[0]!;
  const { confusion = {} } = summary.labels[key] ?? {};
  const found = [...new Set(Object.values(confusion).flatMap((row) => Object.keys(row)))];
  const choose = (name: "expected" | "found", label: string, values: string[]) => (
    <Select
      aria-label={label}
      options={[["", `any ${name}`], ...values.map((value) => [value, value] as const)]}
      value={valueOf(name)}
      onChoose={(value) => setQuery({ label_key: key, [name]: value })}
    />
  );
  return (
    <span class="range">
      <Select
        aria-label="Metadata key of the filter"
        options={keys.map((name) => [name, name])}
        value={key}
        onChoose={(name) => setQuery({ label_key: name, expected: undefined, found: undefined })}
      />
      {choose("expected", "Expected label", Object.keys(confusion))}
      {choose("found", "Label of the reply", found)}
    </span>
  );
}

function Bound({ name, label, placeholder, isUnit: isShare = false, onInput }: {
  name: string;
  label: string;
  placeholder: string;
  /** From 0 to 1; else any number. */
  isUnit?: boolean;
  onInput: (changes: Record<string, string>) => void;
}) {
  const current = valueOf(name);
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
      placeholder={placeholder}
      defaultValue={current}
      onInput={(text) => {
        isWrong.value = !(isShare ? isUnit(text) : Number(text) >= 0);
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
  const text = valueOf("q");
  const outcomes = valueOf("outcome").split(",").filter((outcome) => outcome in RESULTS);
  const filters = [
    text && `“${text}”`,
    ...outcomes.map((outcome) => RESULTS[outcome as Result].label),
    valueOf("agreement"),
    valueOf("graded") && "not graded",
    ...listFilters().map((filter) => filter.text),
  ];
  return filters.filter(Boolean).join(", ");
}

interface ActiveFilter {
  /** Of its parameters in the address. */
  names: [string, ...string[]];
  text: string;
}

/** The filters that the address has and no chip shows. */
function listFilters(): ActiveFilter[] {
  const [min, max, from, to] = ["min", "max", "latency_min", "latency_max"].map(valueOf);
  const filters: ActiveFilter[] = [
    { names: ["scenario"], text: `Scenario: ${valueOf("scenario")}` },
    { names: ["attempt"], text: `Attempt: ${valueOf("attempt")}` },
    {
      names: ["label_key", "expected", "found"],
      text: `${valueOf("label_key")}: ${valueOf("expected") || "any"} → ${
        valueOf("found") || "any"
      }`,
    },
    {
      names: min ? ["min", "max"] : ["max", "min"],
      text: `${scoreLabel(valueOf("score") || "overall")} ${min || 0} to ${max || 1}`,
    },
    {
      names: from ? ["latency_min", "latency_max"] : ["latency_max", "latency_min"],
      text: `Latency ${from || 0} to ${to || "any"} ms`,
    },
    { names: ["change", "since"], text: `Changed by at least ${valueOf("change")}` },
  ];
  return filters.filter(({ names: [name] }) => valueOf(name) !== "");
}

/** A filter that can be removed. */
function Active({ names, text }: ActiveFilter) {
  return (
    <Button
      isSmall
      icon="close"
      aria-label={`Remove the filter ${text}`}
      onClick={() => setQuery(Object.fromEntries(names.map((name) => [name, undefined])))}
    >
      <span dir="auto">{text}</span>
    </Button>
  );
}
