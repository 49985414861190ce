/** What can be sent as the value of a header; Node's own rule. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** True for a text that can be the value of a header, or a part of it. */
export function isHeaderValue(text: string): boolean {
  return HEADER_VALUE.test(text);
}
