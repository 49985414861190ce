import { serveCalls, stoppable } from "../../../../shared/service/serve_calls.ts";
import { htmlToText } from "./html_text.ts";

serveCalls(stoppable(htmlToText));
