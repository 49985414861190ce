import { render } from "preact";
import { KeyboardHelp } from "../../../shared/pages/components/keyboard.tsx";
import { ThemeSwitch } from "../../../shared/pages/components/theme_switch.tsx";
import { Toasts } from "../../../shared/pages/components/toast.tsx";
import { followAddressBar } from "../../../shared/pages/location.ts";
import { followTheme } from "../../../shared/pages/theme.ts";
import { CompareBody } from "../compare/compare_view.tsx";
import { RunBody } from "../run/run_view.tsx";
import { setSource } from "../source.ts";
import { createFileSource } from "./file_source.ts";
import { readReportData, type ReportData } from "./report_data.ts";

const data = readReportData();
setSource(createFileSource(data));
followTheme();
followAddressBar();
document.title = `${titleOf(data)} · Assay report`;
render(<Report data={data} />, document.getElementById("app")!);

function titleOf(data: ReportData): string {
  if ("run" in data) return data.run.test_name;
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
        {"run" in data ? <RunBody id={data.run.run_id} /> : (
          <CompareBody
            baseline={data.comparison.baseline.run_id}
            candidate={data.comparison.candidate.run_id}
          />
        )}
      </main>
      <KeyboardHelp />
      <Toasts />
    </>
  );
}
