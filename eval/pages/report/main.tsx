import { render } from "preact";
import { KeyboardHelp } from "../../../shared/pages/components/keyboard.tsx";
import { followTheme, ThemeSwitch } from "../../../shared/pages/components/theme_switch.tsx";
import { Tips } from "../../../shared/pages/components/tip.tsx";
import { Toasts } from "../../../shared/pages/components/toast.tsx";
import { followAddressBar } from "../../../shared/pages/location.ts";
import { CompareBody } from "../compare/compare_view.tsx";
import { GroupBody } from "../groups/group_view.tsx";
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
  if ("group" in data) return data.group.test_name;
  const { baseline, candidate } = data.comparison;
  return `${baseline.model_id} and ${candidate.model_id}`;
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
  if ("group" in data) return <GroupBody group={data.group} />;
  const { baseline, candidate } = data.comparison;
  return <CompareBody baseline={baseline.run_id} candidate={candidate.run_id} />;
}
