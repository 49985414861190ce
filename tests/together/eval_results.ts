import { importTests } from "../import_tests.ts";

await importTests("eval/compare", "eval/groups", "eval/noise", "eval/results");
