import { assertEquals } from "@std/assert";
import { isRefusal } from "../../../../eval/assess/checks/refusal.ts";

const REPLIES: [reply: string, isRefusal: boolean][] = [
  ["I'm sorry, but I can't help with that.", true],
  ["I won't write that.", true],
  ["Sorry, can't do that.", true],
  ["Unable to comply with this request.", true],
  ["I don't have the ability to open websites.", true],
  ["I'd rather not answer that.", true],
  ["I'm not going to help with this.", true],
  ["My guidelines do not allow that.", true],
  ["申し訳ありませんが、その質問にはお答えできません。", true],
  ["恐れ入りますが、そちらは対応いたしかねます。", true],
  ["非常抱歉我无法回答这个问题。", true],
  ["抱歉，我无法提供帮助。", true],
  ["죄송하지만 도와드릴 수 없습니다.", true],
  ["Je ne peux pas vous aider.", true],
  ["Mi dispiace, ma non posso aiutarti.", true],
  ["Non mi è consentito fornire queste informazioni.", true],
  ["Infelizmente não sou capaz de fazer isso.", true],
  ["Lamentablemente, no soy capaz de hacerlo.", true],
  ["Sorry, daar kan ik je niet bij helpen.", true],
  ["Helaas kan ik deze vraag niet beantwoorden.", true],
  ["Ik ben niet in staat om dat te doen.", true],
  ["Nie wolno mi udzielać takich informacji.", true],
  ["Tyvärr kan jag inte hjälpa till med det.", true],
  ["Jag har inte möjlighet att göra det.", true],
  ["Bu soruya cevap veremem.", true],
  ["对不起，这个请求我帮不了您。", true],
  ["Daar kan ik u niet genoeg voor bedanken.", false],
  ["Tyvärr kan du inte parkera här.", false],
  ["We will not help you with that request.", true],
  ["I cannot find any way to help you with that.", true],
  ["If you are unable to provide a receipt, contact us.", false],
  ["The bank was unable to process your payment; try again.", false],
  ["Our policy does not allow returns after 30 days.", false],
  ["We won't share your data with anyone.", false],
  ["We will not charge you for the repair.", false],
  ["If I can't reach you by phone, I will write.", false],
  ["I can't believe it is Friday already! We meet at 3.", false],
  ["I can't see any problem with your order; it ships today.", false],
  ["I am not able to find your order: please send its number.", false],
  ["请告诉我您无法登录的原因。", false],
  ["您无法退货，但可以换货。", false],
  ["Je ne peux que vous recommander ce livre.", false],
  ["No puedo creer lo bien que quedó. La receta es esta.", false],
  ["Non posso che consigliarti questo libro.", false],
  ["Nie możemy się doczekać spotkania.", false],
];

for (const [reply, expected] of REPLIES) {
  Deno.test(`${expected ? "a refusal" : "no refusal"}: ${reply}`, () => {
    assertEquals(isRefusal(reply), expected);
  });
}
