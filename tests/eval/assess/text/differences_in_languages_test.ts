import { assertEquals } from "@std/assert";
import {
  type DifferenceKind,
  differencesBetween,
} from "../../../../eval/assess/text/differences.ts";

/** What two texts in another language than English differ in; `[]`: they say the same. */
const PAIRS: [reply: string, reference: string, kinds: DifferenceKind[]][] = [
  ["为什么不重启电脑试试？", "请重启电脑试试。", []],
  ["除非付款，否则不发货。", "付款后发货。", []],
  ["只要不下雨，比赛就开始。不能退票。", "比赛可以退票。", ["negation"]],
  ["如果下雨，活动不会取消。", "如果下雨，活动会取消。", ["negation"]],
  ["付款的话不能退款。", "付款的话可以退款。", ["negation"]],
  ["如果不付款，订单会取消。", "付款后，订单会保留。", []],
  ["キャンセルの場合は返金できません。", "キャンセルの場合は返金できます。", ["negation"]],
  ["未使用に限り返品できません。", "未使用に限り返品できます。", ["negation"]],
  ["返金できない場合があります。", "返金できます。", ["negation"]],
  ["iPhone Pro Max 不支持 USB-C Power Delivery。", "iPhone Pro Max 支持 USB-C Power Delivery。", [
    "negation",
  ]],
  ["支払いができない場合は、お試しください。", "支払いに失敗したら、お試しください。", []],
  ["如果没有收据，不能退款。", "凭收据可以退款。", []],
  ["若不付款，不发货。", "付款后发货。", []],
  ["会員でない場合は利用できません。", "会員は利用できます。", []],
  ["ログインしないと購入できません。", "ログインすれば購入できます。", []],
  ["予約がない限り入場できません。", "予約があれば入場できます。", []],
  ["Der Winkel α ist fünf Grad.", "Der Winkel α ist sechs Grad.", ["number"]],
  ["Das Wort Мир bedeutet nicht Krieg.", "Das Wort Мир bedeutet Krieg.", ["negation"]],
  ["Det tar upp till tre dagar.", "Det tar upp till fem dagar.", ["number"]],
  ["Vi har öppet från nio till fem.", "Vi har öppet 9 till 17.", []],
  ["El precio pasó de cinco a seis.", "El precio pasó de siete a ocho.", ["number"]],
  ["Abrimos de nueve a seis.", "Abrimos de 9 a 18.", []],
  ["Ne bastano le due di ieri.", "Ne bastano le cinque di ieri.", ["number"]],
  ["paketet kommer inte i morgon", "paketet kommer i morgon", ["negation"]],
  ["情報を提供することはありません。", "情報は提供しません。", []],
  ["情報を提供することはありません。", "情報を提供します。", ["negation"]],
  ["本人確認をしなければなりません。", "本人確認をしません。", ["negation"]],
  ["Chegou na segunda-feira.", "Chegou na terça-feira.", ["date"]],
  ["Escolha a segunda opção.", "Escolha a quinta opção.", []], // they are ordinals, too
  ["Siamo aperti dal lunedì al venerdì.", "Siamo aperti il mercoledì.", []],
  ["Hij heeft twee miljoen lezers.", "Hij heeft 2.000.000 lezers.", []],
  [`The answer to Question 2 is 3 & "more".`, "Die Antwort auf Frage 2 ist nein.", []],
  ["Cuesta cuarenta y cinco euros.", "Cuesta 45 euros.", []],
  ["Cuesta cuarenta y cinco euros.", "Cuesta 46 euros.", ["money"]],
  ["Cuesta ciento veinte euros.", "Cuesta 120 euros.", []],
  ["Ça coûte vingt et un euros.", "Ça coûte 21 euros.", []],
  ["Ça coûte quatre-vingt-dix-neuf euros.", "Ça coûte 99 euros.", []],
  ["Это стоит сто двадцать рублей.", "Это стоит 120 рублей.", []],
  ["Custa duzentos e vinte euros.", "Custa 220 euros.", []],
  ["Custa vinte e cinco euros.", "Custa 26 euros.", ["money"]],
  ["Kosztuje sto dwadzieścia pięć złotych.", "Kosztuje 125 zł.", []],
  ["Kosztuje dwadzieścia pięć złotych.", "Kosztuje 26 zł.", ["money"]],
  ["Es un diez por ciento.", "Es un veinte por ciento.", ["number"]],
  ["Es ist eine zwei Tage lange Reise.", "Es ist eine drei Tage lange Reise.", ["number"]],
  ["Ça prend entre deux et trois jours.", "Ça prend entre quatre et cinq jours.", ["number"]],
  ["Es dauert zwei-drei Tage.", "Es dauert fünf-sechs Tage.", ["number"]],
  ["Пять высот было взято.", "Шесть высот было взято.", ["number"]],
  ["Lo sconto è del venti percento.", "Lo sconto è del trenta percento.", ["number"]],
  ["Sono le tre del pomeriggio.", "Sono le 15 adesso.", []],
  ["Butikken er åben fra ni til fem hver dag.", "Butikken er åben fra 9 til 17 hver dag.", []],
  ["La tienda abre de nueve a seis.", "La tienda abre de 9 a 18.", []],
  ["Tarda de dos a tres días.", "Tarda de cinco a seis días.", ["number"]],
  ["Cela ne coûte pas plus de 20 euros.", "Cela coûte au maximum 20 euros.", []],
  ["Cela ne coûte pas plus de 20 euros.", "Cela coûte plus de 20 euros.", ["negation"]],
  ["Il n'y a plus de places.", "Il y a des places.", ["negation"]],
  ["Het kost niet meer dan 20 euro.", "Het kost hooguit 20 euro.", []],
  ["Non costa più di 5 euro.", "Costa al massimo 5 euro.", []],
  ["Non resta che pagare la fattura.", "Resta da pagare la fattura.", []],
  ["Non manca molto alla fine del corso.", "Manca poco alla fine del corso.", []],
  ["Missa inte att betala fakturan.", "Kom ihåg att betala fakturan.", []],
  ["Il viaggio dura due ore e mezza.", "Il viaggio dura 2,5 ore.", []],
  ["Książka ma pięć setek stron.", "Książka ma 500 stron.", []],
  ["Der bor tre millioner mennesker i byen.", "Der bor 3 000 000 mennesker i byen.", []],
  ["Bogen er på fem hundrede sider.", "Bogen er på 500 sider.", []],
  ["Det koster tyve kroner i dag.", "Det koster tredive kroner i dag.", ["money"]],
  ["Il corso inizia alle tre.", "Il corso inizia alle 15.", []],
  ["Vi har ingen ledige værelser.", "Vi har ledige værelser.", ["negation"]],
  ["Mødet er på mandag.", "Mødet er på tirsdag.", ["date"]],
  ["Du trenger ikke visum.", "Du trenger visum.", ["negation"]],
  ["Leveringen tar to uker.", "Leveringen tar 14 dager.", []],
];

for (const [reply, reference, kinds] of PAIRS) {
  const outcome = kinds.join(" and ") || "nothing";
  Deno.test(`${JSON.stringify(reply)} and ${JSON.stringify(reference)} differ in ${outcome}`, () => {
    assertEquals(differencesBetween(reply, reference), kinds);
    assertEquals(differencesBetween(reference, reply), kinds);
  });
}
