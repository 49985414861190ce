import { Notice } from "../../../shared/pages/components/states.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import type { WrittenDataset } from "../../http/dataset_routes.ts";

/** What of a file has no counterpart here. */
export function LeftOut({ parts }: { parts: WrittenDataset["left_out"] }) {
  if (parts.length === 0) return null;
  return (
    <Notice kind="warn">
      <div>Some of the file has no counterpart here and is left out:</div>
      {parts.map(({ what, count, line }) => (
        <div key={what} dir="auto">
          {what}, {formatNumberOf(count, "time")}, first in line {line}
        </div>
      ))}
    </Notice>
  );
}
