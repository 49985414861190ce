import { nameOf, withNameInText } from "../../shared/providers/author_name.ts";
import { type Adaptation, isUnknownField } from "./adapted_requests.ts";

/** Models get the names of authors in a field, or in the text if they refuse it, as Mistral does. */
export const AUTHOR_NAMES: Adaptation = {
  applies: ({ messages, rawMessages }) => !rawMessages && messages.some(nameOf),
  adapt: (request) => ({ ...request, messages: request.messages.map(withNameInText) }),
  isRefusal: (status, error) => isUnknownField(status, error) && /\bname\b/.test(error.message),
};
