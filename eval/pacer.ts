export { createPacer } from "../shared/pacer.ts";
