import { useRef } from "preact/hooks";
import { tip } from "../../../shared/pages/components/tip.tsx";
import {
  formatDateTime,
  formatDay,
  formatDuration,
  formatMoney,
  formatScore,
  formatTime,
} from "../../../shared/pages/format.ts";
import { navigate } from "../../../shared/pages/location.ts";
import type { ListedRun } from "../../http/schemas/run_schemas.ts";
import { intervalText, modelOf, overallOf, scoreLabel } from "../words.ts";

const WIDE = 1200;
const NARROW = 600;
const SHORT = 320;
/** So many runs can be told apart on a narrow screen; more of them scroll. */
const SHORT_RUNS = 12;
const HEIGHT = 200;
const LEFT = 56;
const BOTTOM = 24;
/** Lines are told apart by their marks, too. */
const KINDS = 6;

interface Point {
  run: ListedRun;
  value: number;
  ci95: readonly [number, number] | null;
}

/** What a trend can show. */
export function trendChoices(runs: ListedRun[]): string[] {
  const scores = new Set(runs.flatMap(({ headline }) => Object.keys(headline?.scores ?? {})));
  return [
    ...[...scores].toSorted((a, b) => Number(b === "overall") - Number(a === "overall")),
    ...(runs.some(({ headline }) => headline?.latency_ms) ? ["latency"] : []),
    ...(runs.some(({ headline }) => typeof headline?.cost?.amount === "number") ? ["cost"] : []),
  ];
}

/** A choice in words. */
export function trendLabel(choice: string): string {
  return choice === "latency" ? "median latency" : choice === "cost" ? "cost" : scoreLabel(choice);
}

function pointOf(run: ListedRun, choice: string): Point[] {
  const { headline, progress } = run;
  const isKnown = choice === "overall"
    ? headline && overallOf(headline)
    : progress.failed < progress.done;
  const statistic = isKnown ? headline?.scores[choice] : undefined;
  const value = choice === "latency"
    ? headline?.latency_ms?.p50
    : choice === "cost"
    ? headline?.cost?.amount
    : statistic?.mean;
  if (typeof value !== "number") return [];
  return [{ run, value, ci95: statistic?.ci95 ?? null }];
}

/** The runs of one test over time: a line per model, oldest first. */
export function Trend({ runs, choice }: { runs: ListedRun[]; choice: string }) {
  const wasFocused = useRef(false);
  const points = runs.flatMap((run) => pointOf(run, choice));
  const moments = [...new Set(points.map(momentOf))];
  if (moments.length < 2) {
    return (
      <p class="muted small">
        A trend needs runs of this test at two times, complete and with a score.
      </p>
    );
  }
  const isScore = choice !== "latency" && choice !== "cost";
  const isShort = globalThis.innerWidth < NARROW && points.length <= SHORT_RUNS;
  // so that its text can be read
  const width = isShort ? SHORT : globalThis.innerWidth < NARROW ? NARROW : WIDE;
  const { low, high } = rangeOf(points, isScore);
  const x = (index: number) => LEFT + 12 + index / (moments.length - 1) * (width - LEFT - 32);
  const y = (value: number) => 8 + (high - value) / (high - low) * (HEIGHT - BOTTOM - 8);
  const places = new Map(
    points.map((point) => [point.run.run_id, x(moments.indexOf(momentOf(point)))]),
  );
  const models = [...Map.groupBy(points, ({ run }) => modelOf(run))];
  const said = (value: number) => formatValue(value, { choice, runs });
  const [first, last] = [points[0]!, points.at(-1)!];
  const isOneDay = formatDay(first.run.created_at) === formatDay(last.run.created_at);
  return (
    <figure>
      <svg
        class={isShort ? "chart" : "chart trend"}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="group"
        aria-label={`${points.length} runs of ${models.length} models, ${trendLabel(choice)}`}
      >
        {[low, (low + high) / 2, high].map((value) => (
          <g key={value}>
            <line class="grid" x1={LEFT} x2={width - 8} y1={y(value)} y2={y(value)} />
            <text class="tick end" x={LEFT - 8} y={y(value) + 4}>{said(value)}</text>
          </g>
        ))}
        {models.map(([model, own], kind) => (
          <g key={model} class={`kind-${kind % KINDS}`}>
            <polyline
              class="line"
              points={own.map(({ run, value }) => `${places.get(run.run_id)},${y(value)}`).join(
                " ",
              )}
            />
            {own.map((point) => {
              const at = places.get(point.run.run_id)!;
              const text = describe(point, said);
              return (
                <a
                  key={point.run.run_id}
                  href={`/ui/runs/${point.run.run_id}`}
                  aria-label={text}
                  {...tip(text)}
                  onPointerDown={({ currentTarget }) =>
                    wasFocused.current = document.activeElement === currentTarget}
                  onClick={(event) => {
                    if (event.ctrlKey || event.metaKey) return;
                    event.preventDefault();
                    // The first tap shows the value, the second one opens the run.
                    const isTap = (event as unknown as PointerEvent).pointerType === "touch";
                    if (isTap && !wasFocused.current) return;
                    navigate(`/ui/runs/${point.run.run_id}`);
                  }}
                >
                  {point.ci95 && (
                    <line
                      class="whisker"
                      x1={at}
                      x2={at}
                      y1={y(Math.max(low, point.ci95[0]))}
                      y2={y(Math.min(high, point.ci95[1]))}
                    />
                  )}
                  <circle class="target" cx={at} cy={y(point.value)} r={12} />
                  <circle class="dot" cx={at} cy={y(point.value)} r={4} />
                </a>
              );
            })}
          </g>
        ))}
        <text class="tick" x={LEFT + 4} y={HEIGHT - 6}>
          {(isOneDay ? formatDateTime : formatDay)(first.run.created_at)}
        </text>
        <text class="tick end" x={width - 8} y={HEIGHT - 6}>
          {(isOneDay ? formatTime : formatDay)(last.run.created_at)}
        </text>
      </svg>
      <figcaption class="legend">
        {models.map(([model], kind) => (
          <span key={model} class={`kind-${kind % KINDS}`}>
            <svg width="20" height="8" aria-hidden="true">
              <line class="line" x2="20" y1="4" y2="4" />
            </svg>
            <bdi>{model}</bdi>
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

/** The models of a group ran at the same time. */
function momentOf({ run: { group_id, run_id } }: Point): string {
  return group_id ?? run_id;
}

/** The axis fits the data; a score's goes no further than 0 to 1. */
function rangeOf(points: Point[], isScore: boolean): { low: number; high: number } {
  const values = points.flatMap(({ value, ci95 }) => [value, ...ci95 ?? []]);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (!isScore) return { low: 0, high: most > 0 ? most * 1.1 : 1 };
  const low = Math.max(0, Math.floor((least - 0.02) * 10) / 10);
  const high = Math.min(1, Math.ceil((most + 0.02) * 10) / 10);
  return { low, high: high > low ? high : low + 0.1 };
}

function formatValue(
  value: number,
  { choice, runs }: { choice: string; runs: ListedRun[] },
): string {
  if (choice === "latency") return formatDuration(value);
  if (choice !== "cost") return formatScore(value);
  const currency = runs.find(({ headline }) => headline?.cost?.currency)?.headline?.cost?.currency;
  return currency ? formatMoney({ amount: value, currency }) : formatScore(value);
}

function describe({ run, value, ci95 }: Point, said: (value: number) => string): string {
  return `${modelOf(run)}, ${formatDateTime(run.created_at)}: ${said(value)}` +
    (ci95 ? ` (${intervalText(ci95)})` : "");
}
