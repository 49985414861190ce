/** Words of English that no other language below has as a common word. */
const ENGLISH = `
the and of you your are were be been this that these those with from have has had will would
can could should not it its it's i i'm you're don't can't we our they their them she his her him my
what when where which who how why if then than there here about into please thank thanks
sorry for by or but any all more some other only just also now out up after before because does did
doing being yes get got need want know help order very much many each both between through during
another one two three
`;

/** Words of English that are common in another language too. */
const SHARED = "a an in on is was to at as so me no do am he us over under";

/** Common words of other languages in Latin letters, in the order of the languages named. */
const OTHER = `
der die das und ist nicht ein eine einen einem einer ich sie wir ihr mit auf für von den dem des zu im
sich auch noch nur wenn bitte können wurde haben hat sind war bei nach aus wie ihre ihren mein kein
le la les un une des du de et est pas que qui vous nous je il elle dans pour sur avec au aux votre vos
ce cette ces sont été plus mais ou où par mon ma mes se ne en être avoir
el la los las y una unos del es que su sus por para con como más pero se lo al está son ha han muy ya
mi mis tu te le nos usted diesem diese dieser dieses puede este esta
il lo gli uno della del di che non sono con come più ma si ha hai questo questa nel alla il mio
os um uma da dos das não são que para com mais mas seu sua por se em na você
de het een en niet van ik je we zijn op met voor dat die aan er maar ook wat naar uw bij kan wordt
och att det som en på är av för inte med den till ett jag vi du har kan om så men från
og det som en på er af ikke med til jeg vi du har kan om så men fra ikkje være blir
na się nie jest że jak ale po co dla od za przez ma są czy tak
se na je že si ve jsem jsou není pro jak ale už jste
bir ve bu için ile de da çok ne mi mı ama gibi daha var yok olarak sizin benim değil
yang dan di ini itu untuk dengan tidak dari dalam anda saya akan ada pada ke adalah bisa
și este nu pe cu din pentru mai un în că care sunt dumneavoastră
és az egy nem hogy van meg de csak már még vagy ez
ja ei että se hän oli ovat mutta kun tämä niin myös
và là của không có được cho một tôi bạn
`;

/** Those of them that English texts have too: as words, in names (`Rio de Janeiro`), in addresses. */
const DOUBTFUL = `
die war hat men van son care plus pro con par non com den er ha var
de del la le du da di des von el
`;

const words = (list: string) => list.trim().split(/\s+/);

type Owner = "english" | "shared" | "doubtful" | "other";

/** Whose a common word is; words that carry a sentence's subject are not in it. */
export const functionWords: ReadonlyMap<string, Owner> = new Map<string, Owner>([
  ...words(OTHER).map((word) => [word, "other"] as const),
  ...words(DOUBTFUL).map((word) => [word, "doubtful"] as const),
  ...words(ENGLISH).map((word) => [word, "english"] as const),
  ...words(SHARED).map((word) => [word, "shared"] as const),
]);
