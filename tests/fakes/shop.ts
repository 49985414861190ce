/** `docs/examples/shop.jsonl`, as it is and read. */
export const SHOP = readExample("shop.jsonl");
export const SHOP_SCENARIOS: { id: string; interactions: { user_message: string }[] }[] = parse(
  SHOP,
);

/** What two models say to the questions of the shop: one is right, the other gets six wrong. */
export const SHOP_REPLIES: Record<string, Record<string, string>> = {
  careful: repliesOf("shop_careful.jsonl"),
  hasty: repliesOf("shop_hasty.jsonl"),
};

function repliesOf(name: string): Record<string, string> {
  const replies = new Map<string, string>(
    parse<{ scenario_id: string; agent_reply: string }>(readExample(name))
      .map(({ scenario_id, agent_reply }) => [scenario_id, agent_reply]),
  );
  return Object.fromEntries(
    SHOP_SCENARIOS.map(({ id, interactions }) => [interactions[0]!.user_message, replies.get(id)!]),
  );
}

function parse<T>(lines: string): T[] {
  return lines.trim().split("\n").map((line) => JSON.parse(line));
}

function readExample(name: string): string {
  return Deno.readTextFileSync(new URL(`../../docs/examples/${name}`, import.meta.url));
}
