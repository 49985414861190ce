import { formatAge, formatDateTime } from "../format.ts";

/** How long ago something was; the time itself as its title. */
export function Age({ of: time }: { of: string }) {
  return <span class="age" title={formatDateTime(time)}>{formatAge(time)}</span>;
}
