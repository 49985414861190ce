"""Values of the reference implementations for pairs of texts, written from their definitions.

    python3 reference_scores.py check ../../../../eval/score/scores/vectors.json   # are its values these?
    python3 reference_scores.py odd ../../../../eval/score/scores/vectors.json     # writes the odd pairs anew;
                                                                          # then: deno fmt
    python3 reference_scores.py random 2000 7                             # random odd pairs, as JSON

The test suite needs no Python: it reads the values from vectors.json. Nothing but the standard
library is used. The definitions:

- SQuAD v1.1: lower(), without string.punctuation, \\b(a|an|the)\\b replaced by a blank, split() and
  joined; exact match of that, and F1 over the bags of its tokens (0 if they share none).
- rouge_score without stemmer: lower(), [^a-z0-9]+ replaced by a blank, split; F1 of the longest
  common subsequence.
- sacreBLEU 2.6.0, chrF2: ''.join(split()), character 1- to 6-grams, effective order, beta 2.
"""

import json
import random
import re
import string
import sys
from collections import Counter


def squad_tokens(text):
    text = "".join(ch for ch in text.lower() if ch not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def exact_match(reply, reference):
    return float(" ".join(squad_tokens(reply)) == " ".join(squad_tokens(reference)))


def f_measure(shared, found, wanted):
    if shared == 0:
        return 0.0
    precision, recall = shared / found, shared / wanted
    return 2 * precision * recall / (precision + recall)


def token_f1(reply, reference):
    found, wanted = squad_tokens(reply), squad_tokens(reference)
    return f_measure(sum((Counter(found) & Counter(wanted)).values()), len(found), len(wanted))


def rouge_tokens(text):
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).split()


def ngrams(items, order):
    return Counter(tuple(items[i:i + order]) for i in range(len(items) - order + 1))


def rouge_l(reply, reference):
    found, wanted = rouge_tokens(reply), rouge_tokens(reference)
    row = [0] * (len(wanted) + 1)
    for token in found:
        diagonal = 0
        for j, other in enumerate(wanted):
            above = row[j + 1]
            row[j + 1] = diagonal + 1 if token == other else max(above, row[j])
            diagonal = above
    return f_measure(row[-1], len(found), len(wanted))


def chrf(reply, reference):
    found, wanted = "".join(reply.split()), "".join(reference.split())
    precision = recall = 0.0
    orders = 0
    for order in range(1, 7):
        ours, theirs = ngrams(found, order), ngrams(wanted, order)
        if not ours or not theirs:
            continue
        shared = sum((ours & theirs).values())
        precision += shared / sum(ours.values())
        recall += shared / sum(theirs.values())
        orders += 1
    if precision + recall == 0:
        return 0.0
    precision, recall = precision / orders, recall / orders
    return 5 * precision * recall / (4 * precision + recall)


def vector(reply, reference):
    return {
        "reply": reply,
        "reference": reference,
        "ascii": (reply + reference).isascii(),
        "exact_match": exact_match(reply, reference),
        "token_f1": token_f1(reply, reference),
        "rouge_l": rouge_l(reply, reference),
        "chrf": chrf(reply, reference),
    }


# Empty and wordless texts, blanks of every kind, case, marks, signs that pass for letters.
ODD = [
    ("", " "), (" ", ""), (" ", " "), (" ", "\n"), ("\u3000", " "), ("\ufeff", ""),
    ("?!", "?!"), ("?!", "."), ("...", "?!"), ("the", "the"), ("the", "a"), ("The", ""),
    ("a", "an"), ("The!", "the"), ("!", "the"), ("-", "-"), ("_", "_"), ("_a_", "a"),
    ("你好。", "你好"), ("你好", "你好。"), ("你好！", "你好。"), ("。", "。"), ("。", "！"),
    ("col·lecció", "col lecció"), ("col·lecció", "col·lecció"), ("col·lecció", "collecció"),
    ("a·b", "a b"), ("·", "·"), ("·", " "),
    ("hello\ufeff", "hello"), ("\ufeffhello", "hello"), ("hello\ufeff", "hello\ufeff"),
    ("hello\u200b", "hello"), ("hel\u200blo", "hello"), ("hello\u00ad", "hello"),
    ("hello\x85", "hello"), ("hello\x85there", "hello there"), ("hello\x1c", "hello"),
    ("a\x1cb\x1dc\x1ed\x1fe", "a b c d e"), ("hello-\x1f", "hello-"), ("well-\n", "well-"),
    ("well-\nknown", "well-known"), ("well-\x85known", "well-known"), ("hello\u00a0there", "hello there"),
    ("hello\u2028there", "hello there"), ("hello\u180ethere", "hello there"), ("x\v\f", "x"),
    ("hello \u200f", "hello"), ("\u202bhello\u202c", "hello"), ("שלום\u200f.", "שלום."),
    ("cafe\u0301", "café"), ("the\u0301", "the"), ("e\u0301the", "the"), ("a\u0301 b", "a b"),
    ("ＴＨＥ cat", "the cat"), ("（hello）", "(hello)"), ("hello，world", "hello,world"),
    ("İstanbul", "istanbul"), ("ISTANBUL", "ıstanbul"), ("I", "ı"), ("İ", "i\u0307"),
    ("Straße", "strasse"), ("STRASSE", "straße"), ("ẞ", "ß"), ("ΟΔΟΣ", "οδος"), ("ΟΔΟΣ", "οδοσ"),
    ("Σ", "σ"), ("ΑΣ Β", "ας β"), ("ΑΣ\u00adΒ", "ας\u00adβ"), ("K", "k"), ("ǅ", "ǆ"),
    ("the\u2019s", "the's"), ("thé", "the"), ("the_", "the"), ("the2", "the"), ("the²", "the"),
    ("an①", "an"), ("the\u20e3", "the"), ("the👍", "the 👍"), ("👍🏽", "👍"), ("❤️", "❤"),
    ("👨\u200d👩\u200d👧", "👨👩👧"), ("🇩🇪", "🇫🇷"), ("1,5", "1.5"), ("1-2", "1 - 2"), ("٣-٤", "٣ - ٤"),
    ("&amp;lt;b&gt;", "<b>"), ("<skipped>", ""), ("<skipped>a", "a"), ("a.b", "a . b"), ("é.5", "é . 5"),
    ("สวัสดี", "สวัสดี ครับ"), ("ー", "ー"), ("々", "々"), ("the 你好", "你好"), ("你 好", "你好"),
    ("नमस्ते", "नमस्ते"), ("नमस्ते the", "नमस्ते"), ("theनमस्ते", "नमस्ते"), ("ا the", "ا"),
]

ALPHABET = (
    list("aetTh nxAI19.,!?-'\"()&;/_`") + ["the", "an", "a", " ", " ", "\n", "\t", "-\n", "&amp;", "&lt;"]
    + list("\ufeff\u00b7\u200b\u0085\x1c\x1d\x1e\x1f\u00a0\u3000\u2028\u180e\u00ad\u200f\u202b\u0301\u0307")
    + list("İıßẞΣσςΑéÉ²①Ⅷ٣ＡＴ（，。你好のカー々ทส안녕नम्שلK👍🏽❤\ufe0f")
)


def random_pairs(count, seed):
    chance = random.Random(seed)

    def piece(longest):
        return "".join(chance.choice(ALPHABET) for _ in range(chance.randint(0, longest)))

    for _ in range(count):
        shared = piece(8)
        yield piece(5) + shared + piece(3), piece(3) + shared + piece(5)


def main(command, *arguments):
    if command == "random":
        count, seed = map(int, arguments)
        json.dump([vector(*pair) for pair in random_pairs(count, seed)], sys.stdout)
        return
    path = arguments[0]
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    if command == "check":
        for given in vectors:
            made = vector(given["reply"], given["reference"])
            for name, value in made.items():
                if name not in ("reply", "reference") and abs(value - given[name]) > 1e-9:
                    print(name, repr(given["reply"]), repr(given["reference"]), given[name], value)
        return
    odd = set(ODD)
    kept = [given for given in vectors if (given["reply"], given["reference"]) not in odd]
    # Odd characters are escaped: many of them cannot be seen, and some turn the line around.
    texts = [json.dumps(given, ensure_ascii=False) for given in kept]
    texts += [json.dumps(vector(*pair)) for pair in ODD]
    with open(path, "w", encoding="utf-8") as file:
        file.write("[" + ",\n".join(texts) + "]\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
