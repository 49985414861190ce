import { render } from "preact";
import { KeyboardHelp } from "../../../shared/pages/components/keyboard.tsx";
import { followTheme, ThemeSwitch } from "../../../shared/pages/components/theme_switch.tsx";
import { Tips } from "../../../shared/pages/components/tip.tsx";
import { Toasts } from "../../../shared/pages/components/toast.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { followAddressBar, matchPath, path, query } from "../../../shared/pages/location.ts";
import { Compared } from "../compare/compared.tsx";
import { ModelsBody } from "../compare/models_view.tsx";
import { ReplyGrid } from "../compare/reply_grid.tsx";
import { DetailsTab, TurnView } from "../run/run_details.tsx";
import { RunBody } from "../run/run_body.tsx";
import { setSource } from "../source.ts";
import { createFileSource, type ReportData } from "./file_source.ts";

const data: ReportData = JSON.parse(document.getElementById("data")!.textContent!);
setSource(createFileSource(data));
followTheme();
followAddressBar({ inHash: true });
document.title = `${titleOf(data)} · Assay report`;
render(<Report data={data} />, document.getElementById("app")!);

function titleOf(data: ReportData): string {
  const [{ run }] = data.runs as [ReportData["runs"][0]];
  return data.comparison && data.runs.length === 2
    ? data.runs.map(({ run }) => run.model_id).join(" and ")
    : run.test_name;
}

function Report({ data }: { data: ReportData }) {
  return (
    <>
      <header class="topbar">
        <h1>Assay report</h1>
        <span class="spacer" />
        <ThemeSwitch />
      </header>
      <main id="main" class="page">
        <Body data={data} />
      </main>
      <KeyboardHelp />
      <Toasts />
      <Tips />
    </>
  );
}

/** A run of the file, or the comparison: of two runs their verdict first, or the runs side by side. */
function Body({ data: { runs, comparison } }: { data: ReportData }) {
  const { id } = matchPath("/ui/runs/:id", path.value) ?? {};
  const shown = runs.find(({ run }) => run.run_id === id) ?? (comparison ? undefined : runs[0]);
  if (shown) {
    return (
      <>
        {comparison && <Crumb href="/" label="The comparison" />}
        <RunBody
          key={shown.run.run_id}
          id={shown.run.run_id}
          details={{ TurnView, DetailsTab }}
        />
      </>
    );
  }
  const isPair = runs.length === 2 && comparison!.group_id === undefined;
  if (isPair && !query.value.get("runs")) {
    return (
      <>
        <Crumb
          href={`/ui/compare?runs=${runs.map(({ run }) => run.run_id)}`}
          label="Side by side"
        />
        <Compared comparison={comparison!} />
      </>
    );
  }
  return (
    <>
      {isPair && <Crumb href="/" label="The verdict" />}
      <ModelsBody comparison={comparison!} replies={<ReplyGrid comparison={comparison!} />} />
    </>
  );
}

function Crumb({ href, label }: { href: string; label: string }) {
  return (
    <nav class="crumbs" aria-label="Where you are">
      <Link href={href}>{label}</Link>
    </nav>
  );
}
