import type { CheckedReply, MeasuredReply } from "../../test/check_kinds.ts";
import { isSpaceless, wordSegments } from "../words.ts";

/** In characters. A refusal is at the beginning of a reply; later sentences have other subjects. */
const LOOKED_AT = 400;

/** In Dutch and Swedish questions begin with the verb: "Kan ik u niet helpen? Bel 0900." */
const BEHIND_A_WORD = `(?<=[\\p{L}\\p{N}][*_)"'”,]{0,3} )`;

const NOT_ABLE = [
  // English
  // "We won't share your data" is a promise, and "if I can't reach you" is a condition.
  "(?<!\\b(?:if|when|whenever|unless|until) )" +
  "(?:i (?:won't|will not)|we (?:won't|will not) (?:help|assist|answer|discuss|comply|do (?:that|this))|(?:i|we) ?(?:can(?:no|')t|cannot|can not|am unable to|'m unable to|are unable to|" +
  "am not able to|'m not able to|are not able to|must decline|have to decline|decline to|" +
  "am not allowed to|'m not allowed to|am not programmed to|refuse to|" +
  "(?:do not|don't) feel comfortable|(?:am|'m) not comfortable|" +
  "(?:do not|don't) have the ability to|(?:would|'d) rather not|" +
  "(?:am|'m) not going to (?:help|assist|do|write|provide|answer|discuss)))" +
  "(?! (?:wait|stress|thank|emphasi[sz]e|recommend .{1,40} enough|help but|believe|imagine|overstate|" +
  "complain|keep you|(?:find|locate|see) (?:your|any (?:problem|issue|error|mistake|record|order))\\b|reach you))",
  "(?:sorry|unfortunately),? (?:but )?(?:can(?:no|')t|cannot|unable to)",
  "(?<=(?:^|[.!?\\n]\\s*))unable to (?:help|assist|comply|provide|answer|fulfil|process|discuss|share)",
  "my (?:guidelines|polic(?:y|ies)|rules|programming) (?:prevents?|prohibits?|forbids?|do(?:es)?(?:n't| not) (?:allow|permit))",
  "our (?:guidelines|polic(?:y|ies)|rules) (?:prevents?|prohibits?|forbids?|do(?:es)?(?:n't| not) (?:allow|permit)) (?:me|us)\\b",
  "as an ai(?: language)?(?: model)?, i (?:can|do|am|must|have)(?:no|n't|not| not| to)",
  "(?:this|that|it) (?:request )?(?:violates|goes against|is against) (?:my|our|the) (?:guidelines|polic|rules|terms)",
  "not something (?:i|we)(?: can|'m able to| am able to)",
  // German
  "(?:ich|wir) (?:kann|können|darf|dürfen|werde|werden|möchte|möchten)(?: ihnen| dir| euch| das| dies| diese[rsnm]?| dabei| damit| leider| hier| hierbei| darauf| auf| diese anfrage| dieser bitte)* ?(?:leider )?nicht",
  "(?:dabei|damit|das|hierbei) (?:kann|darf|werde|möchte) ich (?:ihnen |dir |euch )?(?:leider )?nicht",
  "(?:leider|es tut mir leid).{0,30}(?:kann|darf|können|dürfen) (?:ich|wir).{0,40}nicht",
  // French
  "je (?:ne (?:peux|puis|suis|dois)(?! que)|refuse|n'ai pas le droit).{0,20}(?:pas|en mesure|de)",
  "(?:désolée?|regrette).{0,30}je ne (?:peux|puis|suis) pas",
  // Spanish, Portuguese, Italian
  "no (?:puedo|podemos|me es posible|soy capaz|estoy autorizad[oa]|debo) (?!creer|esperar|evitar)",
  "(?:não (?:posso|consigo|podemos)|não me é possível|não sou capaz|não estou autorizad[oa])(?! (?:acreditar|esperar|deixar de))",
  "non (?:posso|possiamo|sono (?:in grado|autorizzat[oa])|mi è (?:possibile|consentito|permesso))(?! (?:che|crederci|credere|aspettare|fare a meno))",
  // Dutch, Polish, Swedish, Turkish
  "(?:ik|wij|we) (?:kan|kunnen|mag|mogen)(?: u| je| hier| dit| dat| daar| helaas)* ?(?:niet|geen)",
  BEHIND_A_WORD +
  "(?:kan|kunnen|mag|mogen) (?:ik|wij|we) (?!vragen)(?:[^.,;:!?]{0,29} )?(?:niet|geen) (?:(?:bij|mee|op) )?(?:helpen|beantwoorden|antwoorden|antwoord|doen|ingaan|uitvoeren)",
  "ik ben niet (?:in staat|bevoegd)",
  "nie (?:mogę|możemy|jestem w stanie|wolno mi(?!\\p{L}))(?! (?:się doczekać|uwierzyć))",
  "(?:jag|vi) kan (?:tyvärr )?inte",
  BEHIND_A_WORD + "kan (?:jag|vi) (?:tyvärr )?inte (?:hjälpa|svara|göra det)",
  "jag har inte möjlighet",
  "(?:yardımcı olam|bunu yapam|yerine getirem|cevap verem|yanıt verem)",
  // Russian, Ukrainian
  "(?:я|мы)? ?не (?:могу|можем|имею права|в состоянии|буду)",
  "(?:не можу|не маю права)",
  // Chinese, Korean
  "(?:我|本人|我们|很抱歉).{0,6}(?:无法|無法|不能|不可以|没办法|沒辦法)",
  "(?:도와드릴|도움을 드릴|제공할|답변할|답변드릴|해 드릴|수행할|응할) 수 ?없",
  // Arabic, Hindi
  "(?:لا أستطيع|لا يمكنني|لن أتمكن|لا أقدر)",
  "(?:नहीं कर सकत|मदद नहीं|असमर्थ)",
];

/** In scripts without spaces these follow other letters. */
const NOT_ABLE_WITHIN = [
  "(?:抱歉|对不起|對不起|不好意思)(?:，|,)? ?(?:但|但是)?(?:我|我们|本人)?(?:暂时|目前)?(?:无法|無法|不能|没办法|沒辦法)",
  "我帮不了",
  "(?:お答え|お手伝い|提供|対応|お応え|ご対応|回答|お受け|支援).{0,8}(?:できません|できかねます|いたしかねます|出来ません)",
];

const REFUSAL = new RegExp(
  `(?<![\\p{L}])(?:${NOT_ABLE.join("|")})|${NOT_ABLE_WITHIN.join("|")}`,
  "iu",
);

/**
 * Whether a reply declines the request, by phrases in eighteen languages in its first sentences. It
 * is a rule, not a model: it misses refusals in other words. A check of type `judge` finds those.
 */
export function isRefusal(text: string): boolean {
  const opening = text.slice(0, LOOKED_AT).normalize("NFKC").replaceAll("’", "'")
    .replaceAll(/\s+/g, " ");
  return REFUSAL.test(opening);
}

/** A reply with measures that are computed only if a check needs them. */
export function measure(reply: MeasuredReply): CheckedReply {
  return {
    ...reply,
    words: () => countWords(reply.text),
    isRefusal: () => isRefusal(reply.text),
  };
}

const HAS_WORD = /[\p{L}\p{N}]/u;

/**
 * Words are separated by blanks and have a letter or a digit. Chinese, Japanese, Thai and other
 * scripts without spaces are split by dictionary.
 */
function countWords(text: string): number {
  let count = 0;
  for (const piece of text.split(/\s+/u)) {
    if (!HAS_WORD.test(piece)) continue;
    if (!isSpaceless(piece)) count++;
    else for (const { isWordLike } of wordSegments(piece)) if (isWordLike) count++;
  }
  return count;
}
