import { assertEquals } from "@std/assert";
import {
  baseAddresses,
  endpointKind,
  withoutQuery,
} from "../../../eval/endpoint/endpoint_address.ts";

const MEANT: [endpoint: string, bases: string[], kind: "openai" | undefined][] = [
  ["http://h:1", ["http://h:1", "http://h:1/v1"], undefined],
  ["http://h:1/?key=a", ["http://h:1?key=a", "http://h:1/v1?key=a"], undefined],
  ["http://h/ollama/", ["http://h/ollama", "http://h/ollama/v1"], undefined],
  ["http://h/v1", ["http://h/v1"], "openai"],
  ["http://h/api/v1beta/openai/", ["http://h/api/v1beta/openai"], "openai"],
  ["http://h/chat/completions", ["http://h"], "openai"],
  ["http://h/v1/chat/completions/?a=1", ["http://h/v1?a=1"], "openai"],
  ["http://h/review1", ["http://h/review1", "http://h/review1/v1"], undefined],
];

Deno.test("an address says which addresses of an API it may mean, and whether it names one", () => {
  for (const [endpoint, bases, kind] of MEANT) {
    assertEquals([baseAddresses(endpoint), endpointKind({ endpoint })], [bases, kind], endpoint);
    assertEquals(endpointKind({ endpoint, protocol: "agent" }), "agent");
  }
});

Deno.test("a query is kept as it is, also if it ends in a slash", () => {
  assertEquals(baseAddresses("http://h/v1?key=YQ/"), ["http://h/v1?key=YQ/"]);
  assertEquals(baseAddresses("http://h/?key=a/?b"), ["http://h?key=a/?b", "http://h/v1?key=a/?b"]);
});

Deno.test("an address in a message has neither a query nor a user with a password", () => {
  assertEquals(withoutQuery("https://u:p@h.example/v1/?key=secret#more"), "https://h.example/v1");
});
