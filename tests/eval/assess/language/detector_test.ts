import { assertEquals } from "@std/assert";
import {
  type DetectedLanguage,
  detectLanguage,
} from "../../../../eval/assess/language/detector.ts";

const CASES: [text: string, code: DetectedLanguage["code"], isReliable: boolean][] = [
  ["A man is opening a door.", "en", true],
  ["Where is the parcel that I ordered?", "en", true],
  ["Suicide bomber kills 4 near NATO's Afghan HQ", "en", false],
  ["Okay", "en", false],
  ["I opened it.", "en", true],
  ["i love Paris", "en", true],
  ["Tutti possono vedere i suoi dati.", "en", false],
  ["Paketet kommer i morgon.", "en", false],
  ["Two men play guitar", "en", false],
  ["Rio de Janeiro is in Brazil.", "en", false],
  ["Write to sales@example.com.", "en", false],
  ["Non-members cannot enter.", "other", false],
  ["Das Paket kommt am Montag an.", "other", false],
  ["Die Lieferung dauert 3 Tage.", "other", false],
  ["La livraison prend trois jours.", "other", false],
  ["Wo ist das Paket, das ich bestellt habe?", "other", true],
  ["In diesem Restaurant isst man hervorragend.", "other", false],
  ["De man opent een deur.", "other", true],
  ["Où est mon colis ?", "other", true],
  ["¿Puede darme su número de cliente?", "other", true],
  ["Мужчина открывает дверь.", "other", true],
  ["您的订单已经发货。", "other", true],
  ["42 + 7", null, false],
  ["", null, false],
];

for (const [text, code, isReliable] of CASES) {
  Deno.test(`"${text}" is ${code ?? "in no language"}${isReliable ? "" : ", as far as one can tell"}`, () => {
    assertEquals(detectLanguage(text), { code, isReliable });
  });
}
