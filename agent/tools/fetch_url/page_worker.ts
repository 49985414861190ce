import { serveCalls } from "../../../shared/background/serve_calls.ts";
import { stoppable } from "../../../shared/background/stoppable.ts";
import { htmlToText } from "./html_text.ts";

serveCalls(stoppable(htmlToText));
