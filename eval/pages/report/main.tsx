import { render } from "preact";
import { KeyboardHelp } from "../../../shared/pages/components/keyboard.tsx";
import { followTheme, ThemeSwitch } from "../../../shared/pages/components/theme_switch.tsx";
import { Tips } from "../../../shared/pages/components/tip.tsx";
import { Toasts } from "../../../shared/pages/components/toast.tsx";
import { followAddressBar } from "../../../shared/pages/location.ts";
import { Compared } from "../compare/compared.tsx";
import { ModelsBody } from "../compare/models_view.tsx";
import { RunBody } from "../run/run_view.tsx";
import { setSource } from "../source.ts";
import { createFileSource, type ReportData } from "./file_source.ts";

const data: ReportData = JSON.parse(document.getElementById("data")!.textContent!);
setSource(createFileSource(data));
followTheme();
followAddressBar();
document.title = `${titleOf(data)} · Assay report`;
render(<Report data={data} />, document.getElementById("app")!);

function titleOf(data: ReportData): string {
  if ("run" in data) return data.run.test_name;
  const { runs } = data.comparison;
  return runs.length === 2
    ? runs.map(({ model_id }) => model_id).join(" and ")
    : runs[0]!.test_name;
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

function Body({ data }: { data: ReportData }) {
  if ("run" in data) return <RunBody id={data.run.run_id} />;
  const { comparison } = data;
  return comparison.runs.length === 2 && comparison.group_id === undefined
    ? <Compared comparison={comparison} />
    : <ModelsBody comparison={comparison} />;
}
