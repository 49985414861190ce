import { assertEquals } from "@std/assert";
import { showP } from "../../../eval/export/text_form.ts";

Deno.test("a p-value is shown with four digits, and never as 0", () => {
  const shown = [0.2, 0.03125, 0.0001, 0.00005, 0.00004, 1e-12].map(showP);
  assertEquals(shown, ["0.2000", "0.0313", "0.0001", "0.0001", "<0.0001", "<0.0001"]);
});
