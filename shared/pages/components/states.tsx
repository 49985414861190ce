import type { ComponentChildren } from "preact";
import { type ApiProblem, remedyOf } from "../api_problem.ts";
import { Icon, type IconName } from "./icon.tsx";
import { formatAge, formatDateTime } from "../format.ts";

/** An empty view: says what would be here, and how to get it. */
export function Empty({ icon = "chat", title, children }: {
  icon?: IconName;
  title: string;
  children?: ComponentChildren;
}) {
  return (
    <div class="state">
      <Icon name={icon} size={24} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Something is loading. */
export function Loading({ what }: { what: string }) {
  return (
    <div class="state" role="status">
      <span class="spinner" />
      <p>Loading {what}…</p>
    </div>
  );
}

/** A remark or a failure, with a picture, beside what it is about. */
export function Notice({ kind, icon = "warning", role, children }: {
  kind?: "warn" | "bad";
  icon?: IconName;
  role?: "alert" | "status" | "note";
  children: ComponentChildren;
}) {
  return (
    <div class={kind ? `notice ${kind}` : "notice"} role={role}>
      <Icon name={icon} />
      <div>{children}</div>
    </div>
  );
}

/** Something failed: what, why, what to do, and a way to try again. */
export function ProblemNotice({ problem, children }: {
  problem: ApiProblem;
  children?: ComponentChildren;
}) {
  const remedy = remedyOf(problem);
  const message = problem.message.charAt(0).toUpperCase() + problem.message.slice(1);
  const others = problem.errors.filter(({ message }) => !problem.message.includes(message));
  return (
    <Notice kind="bad" role="alert" icon={problem.status === 0 ? "offline" : "warning"}>
      <div>{/[.!?]$/.test(message) ? message : `${message}.`} {remedy}</div>
      {others.map(({ path, message }) => (
        <div key={path}>
          <code>{path}</code>: {message}
        </div>
      ))}
      {problem.requestId && problem.status >= 500 && (
        <div>
          Request id: <code>{problem.requestId}</code>
        </div>
      )}
      {children && <div class="notice-actions">{children}</div>}
    </Notice>
  );
}

/** How long ago something was; the time itself as its title. */
export function Age({ of: time }: { of: string }) {
  return <span class="age" title={formatDateTime(time)}>{formatAge(time)}</span>;
}
