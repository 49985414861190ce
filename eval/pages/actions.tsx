import { ApiProblem } from "../../shared/pages/api_problem.ts";
import { Menu, type MenuItem } from "../../shared/pages/components/menu.tsx";
import { showToast } from "../../shared/pages/components/toast.tsx";

/** Does something and says in a corner what came of it. */
export async function tryAction(work: () => Promise<string | void>): Promise<void> {
  try {
    const done = await work();
    if (done) showToast(done);
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    showToast(error.message);
  }
}

/** The actions of a row; `of` names the row for people who do not see it. */
export function RowMenu({ of, items }: { of: string; items: MenuItem[] }) {
  const label = `Actions for ${of}`;
  return (
    <Menu
      button={{ kind: "quiet", icon: "more", isSmall: true, "aria-label": label }}
      items={items}
    />
  );
}

/** The files that something can be saved as. */
export function downloadItems<Format extends string>(
  formats: readonly (readonly [format: Format, label: string])[],
  download: (format: Format) => Promise<string | void>,
): MenuItem[] {
  return formats.map(([format, label]) => ({
    label,
    icon: "download",
    onSelect: () => tryAction(() => download(format)),
  }));
}
