import { createRandom } from "./random.ts";

const THINGS = words(
  `invoice parcel refund account password report contract delivery laptop ticket receipt coupon
  subscription package meeting warranty reservation payment server backup printer keyboard charger
  statement booking passport licence insurance mortgage recipe lesson garden bicycle engine battery
  camera museum theatre concert ferry airport station hospital pharmacy library bakery kitchen roof`,
);
const QUALITIES = words(
  `late missing damaged new old second broken expensive cheap urgent small heavy blue secret final
  monthly annual signed empty wrong early unpaid public private foreign local digital printed lost`,
);
const PEOPLE = words(
  `Anna Marcus Priya Tom Lucia Kenji Fatima Oliver Ingrid Samuel Chloe Victor Maria Ahmed Julia Peter
  customers engineers teachers neighbours drivers managers nurses students visitors lawyers`,
);
const ACTIONS = words(
  `sent cancelled opened repaired replaced ordered returned checked printed lost found confirmed moved
  delayed approved rejected cleaned measured sold bought copied deleted restored counted painted`,
);
const PLACES = words(
  `Berlin office warehouse school harbour market basement village hotel bridge airport forest studio
  factory branch counter Lisbon valley desk archive Oslo courtyard terminal website drawer`,
);
const TIMES = words(
  `Monday Tuesday yesterday tomorrow tonight noon March October weekend midnight spring autumn June
  Friday morning evening holiday December`,
);
const LINKS = words(`because although so before after while unless since whenever until`);

/** A seed always gives the same text; texts of two seeds differ in nearly every word. */
export function createText(seed: number, length: number): string {
  const random = createRandom(seed % 2147483000 + 17);
  for (let warm = 0; warm < 3; warm++) random(); // similar seeds begin alike
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)]!;
  const text: string[] = [];
  while (text.length < length) {
    const article = random() < 0.6 ? "the" : "a";
    text.push(pick(PEOPLE), pick(ACTIONS), article, pick(QUALITIES), pick(THINGS), "at the");
    text.push(pick(PLACES), "on", pick(TIMES), pick(LINKS));
  }
  const cut = text.join(" ").split(" ").slice(0, length).join(" ");
  return `${cut[0]!.toUpperCase()}${cut.slice(1)}.`;
}

/** The text with every fifth word replaced. */
export function corrupt(text: string, seed: number): string {
  const others = createText(seed, 200).split(" ");
  return text.split(" ").map((word, at) => at % 5 === 2 ? others[at % others.length]! : word)
    .join(" ");
}

function words(list: string): string[] {
  return list.trim().split(/\s+/);
}
