import { serveCalls } from "../../../shared/background/serve_calls.ts";
import { htmlToText } from "./html_text.ts";

serveCalls(htmlToText);
