/**
 * Types for the `@std/*` modules, which come from npm here (see docs/architecture.md) and carry
 * none of their own. Only what the project uses is declared.
 */

declare module "@std/assert" {
  export function assert(expression: unknown, message?: string): asserts expression;
  export function assertEquals<T>(actual: T, expected: T, message?: string): void;
  export function assertNotEquals<T>(actual: T, expected: T, message?: string): void;
  export function assertStrictEquals<T>(
    actual: unknown,
    expected: T,
    message?: string,
  ): asserts actual is T;
  export function assertAlmostEquals(
    actual: number,
    expected: number,
    tolerance?: number,
    message?: string,
  ): void;
  export function assertExists<T>(
    actual: T,
    message?: string,
  ): asserts actual is NonNullable<T>;
  export function assertGreater<T>(actual: T, expected: T, message?: string): void;
  export function assertLessOrEqual<T>(actual: T, expected: T, message?: string): void;
  // deno-lint-ignore no-explicit-any
  export function assertInstanceOf<T extends abstract new (...args: any[]) => any>(
    actual: unknown,
    expected: T,
    message?: string,
  ): asserts actual is InstanceType<T>;
  export function assertMatch(actual: string, expected: RegExp, message?: string): void;
  export function assertStringIncludes(actual: string, expected: string, message?: string): void;
  export function assertObjectMatch(
    actual: Record<PropertyKey, unknown>,
    expected: Record<PropertyKey, unknown>,
    message?: string,
  ): void;
  export function assertThrows<E extends Error = Error>(
    fn: () => unknown,
    // deno-lint-ignore no-explicit-any
    ErrorClass?: abstract new (...args: any[]) => E,
    messageIncludes?: string,
    message?: string,
  ): E;
  export function assertRejects<E extends Error = Error>(
    fn: () => PromiseLike<unknown>,
    // deno-lint-ignore no-explicit-any
    ErrorClass?: abstract new (...args: any[]) => E,
    messageIncludes?: string,
    message?: string,
  ): Promise<E>;
}

declare module "@std/uuid/common" {
  /** True for the nil UUID and for versions 1 to 7 of the RFC variant, any letter case. */
  export function validate(uuid: string): boolean;
}

declare module "@std/http/status" {
  export const STATUS_TEXT: Readonly<Record<number, string>>;
}

declare module "@std/http/negotiation" {
  /** The best of `types` for the request's `Accept` header, or `undefined` when none fits. */
  export function accepts(
    request: Pick<Request, "headers">,
    ...types: string[]
  ): string | undefined;
  /** The same for `Accept-Encoding`. */
  export function acceptsEncodings(
    request: Pick<Request, "headers">,
    ...encodings: string[]
  ): string | undefined;
}

declare module "@std/http/etag" {
  /** False if the header names `etag`: the caller has what it asks for. */
  export function ifNoneMatch(header: string | null, etag: string): boolean;
}

declare module "@std/http/server-sent-event-stream" {
  export interface ServerSentEventMessage {
    comment?: string;
    event?: string;
    data?: string;
    id?: string | number;
    retry?: number;
  }
  export class ServerSentEventStream
    extends TransformStream<ServerSentEventMessage, Uint8Array<ArrayBuffer>> {}
}

declare module "@std/dotenv" {
  export function parse(text: string): Record<string, string>;
}

declare module "@std/jsonc" {
  /** JSON with comments and trailing commas. Throws a `SyntaxError`. */
  export function parse(text: string): unknown;
}
