import { serveCalls, stoppable } from "../../../shared/background/serve_calls.ts";
import { htmlToText } from "./html_text.ts";

serveCalls(stoppable(htmlToText));
