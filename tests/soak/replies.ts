import { createRandom } from "../../eval/figures/compare/statistics/permutation.ts";

/** Pieces that sentences are put together from: subjects, verbs, objects. */
interface Language {
  parts: [string[], string[], string[]];
  between: string;
  end: string;
}

const LANGUAGES: Language[] = [
  {
    parts: [
      ["The parcel", "Your invoice", "The next train", "Our support team", "This subscription"],
      ["leaves", "is due", "was changed", "costs 14.90 euros", "cannot be cancelled"],
      ["on Monday at 9:30.", "within 3 days.", "before the end of May.", "without a receipt."],
    ],
    between: " ",
    end: " ",
  },
  {
    parts: [
      ["Das Paket", "Ihre Rechnung", "Der nächste Zug", "Unser Kundendienst", "Das Abo"],
      ["kommt", "ist fällig", "wurde geändert", "kostet 14,90 Euro", "endet nicht"],
      ["am Montag um 9:30 Uhr.", "binnen 3 Tagen.", "vor Ende Mai.", "ohne Beleg."],
    ],
    between: " ",
    end: " ",
  },
  {
    parts: [
      ["Le colis", "Votre facture", "Le prochain train", "Notre équipe", "Cet abonnement"],
      ["arrive", "est à payer", "a été modifié", "coûte 14,90 euros", "ne s'arrête pas"],
      ["lundi à 9 h 30.", "sous 3 jours.", "avant fin mai.", "sans reçu."],
    ],
    between: " ",
    end: " ",
  },
  {
    parts: [
      ["Посылка", "Ваш счёт", "Следующий поезд", "Наша служба", "Эта подписка"],
      ["придёт", "будет готов", "изменится", "стоит 14,90 евро", "не закончится"],
      ["в понедельник в 9:30.", "за 3 дня.", "до конца мая.", "без чека."],
    ],
    between: " ",
    end: " ",
  },
  {
    parts: [
      ["包裹", "您的发票", "下一班火车", "我们的客服", "这个订阅"],
      ["将到达", "应付款", "已更改", "费用为14.90欧元", "不能取消"],
      ["星期一九点半。", "在三天之内。", "五月底之前。", "没有收据。"],
    ],
    between: "",
    end: "",
  },
  {
    parts: [
      ["الطرد", "فاتورتك", "القطار القادم", "فريق الدعم", "هذا الاشتراك 👋"],
      ["يصل", "مستحق", "تغير", "يكلف 14.90 يورو", "لا ينتهي"],
      ["يوم الاثنين 9:30.", "خلال 3 أيام.", "قبل نهاية مايو.", "بلا إيصال."],
    ],
    between: " ",
    end: " ",
  },
];

const SHORT = 360;
const MEDIUM = 60;
const LONG = 12;
const SHORTEST_LONG = 10_000;
const LONGEST = 50_000;

const random = createRandom(11);
const pick = <T>(items: T[]): T => items[random() % items.length]!;

function write(index: number, characters: number): string {
  const { parts, between, end } = LANGUAGES[index % LANGUAGES.length]!;
  let text = `${index + 1}. `; // no two are the same
  do text += parts.map((part) => pick(part)).join(between) + end; while (text.length < characters);
  return text.slice(0, LONGEST).trim();
}

/** The endpoint's replies: texts in six languages, most of them short, the last ones long. */
export const REPLIES: readonly string[] = [
  ...Array.from({ length: SHORT }, (_, index) => write(index, 1 + random() % 160)),
  ...Array.from({ length: MEDIUM }, (_, index) => write(index, 300 + random() % 1200)),
  ...Array.from(
    { length: LONG },
    (_, index) => write(index, SHORTEST_LONG + (LONGEST - SHORTEST_LONG) * (index / (LONG - 1))),
  ),
];

/** From here on replies are too long to be compared outside of the long text worker. */
export const FIRST_LONG = SHORT + MEDIUM;

/** The number in `say 17`, which is what users ask for. */
export function askedReply(message: string): string | undefined {
  const number = /^say (\d+)$/.exec(message)?.[1];
  return number === undefined ? undefined : REPLIES[Number(number)];
}
