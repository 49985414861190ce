import { importTests } from "../import_tests.ts";

await importTests("eval/endpoint", "eval/run", "eval/sharing");
