import { importTests } from "../import_tests.ts";

await importTests("eval/datasets", "eval/export", "eval/grades", "eval/pages", "eval/cli");
