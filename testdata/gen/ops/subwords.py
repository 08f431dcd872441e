"""Trains small models by sentencepiece and tokenizers, and writes the ids that they
give to sentences: transforms/subwords/testdata."""

import gzip
import io
import json
import random
import shutil
import unicodedata
from pathlib import Path

import sentencepiece as spm
import tokenizers
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, trainers

ROOT = Path(__file__).resolve().parent.parent.parent.parent
OUT = ROOT / "transforms" / "subwords" / "testdata"
shutil.rmtree(OUT, ignore_errors=True)
OUT.mkdir()
rng = random.Random(7)

FOREIGN = ["Größe und Maß: vierzig Äpfel kosten 3,50 €.", "Le cœur a ses raisons, l'été où naît l'âme.", "東京都は日本の首都です。人口は多い。", "北京是中华人民共和国的首都。", "한국어를 배우는 것은 재미있다.",
           "Москва — столица России.", "שלום עולם, מה שלומך?", "مرحبا بالعالم، كيف حالك؟", "नमस्ते दुनिया", "สวัสดีชาวโลก", "I'll say we've, they're, it's, I'd, I'm, don't; THEY'LL", "x = a[i] + b[j] * 2; // 100%"]
LICENSE = [line.strip() for line in (ROOT / "LICENSE").read_text().splitlines() if line.strip()]
CORPUS = LICENSE + FOREIGN * 4
ODD = ["", " ", "   ", "\n\n\t x", "a  b   c    ", " leading", "trailing ", "\u3000全角　スペース", "ｆｕｌｌ　ｗｉｄｔｈ １２３", "ﬁne ﬂow ½ ² ℌ ㎏ ㍿", "e\u0301 = é, A\u030a = Å, q\u0323\u0307", "\u1112\u1161\u11ab\u1100\u1173\u11af", "👨‍👩‍👧‍👦 🇩🇪 ❤️ 👍🏽",
       "zero\u200bwidth\u200djoin\ufeffbom", "non\u00a0breaking\u202fspace\u2009thin", "soft\u00adhyphen", "\u0000nul\u0001\u0085next", "\r\nwindows\r\nlines", "▁under▁line", "<s></s><unk><pad>", "<|end|>a<|end|><|endoftext|> b", "<user> defined<user>x", "'s 't 're 've 'm 'll 'd 'S 'RE", "don't''s ' s",
       "\U0001d518\U0001d52b\U0001d526 \U00020000\U0002a6d6", "\ufffd\ufffe\uffff", "١٢٣ ४५६ Ⅳ ௧", "ǅ ß ẞ İ ı ſ", "a" * 100, "ab" * 60, "the" * 40, "license license license", "\u0e01\u0e33 \u0f71\u0f72", "½-⅓ ①②③", "ｶﾞｷﾞ ガギ", "A\u0328\u0301", "\u2028line\u2029para", "1234567890 12,345.678e-9", "https://www.apache.org/licenses/LICENSE-2.0"]


def characters():
    """A few words of characters from anywhere."""
    out = []
    for _ in range(rng.randint(1, 5)):
        block = rng.choice([0x20, 0xA0, 0x100, 0x250, 0x370, 0x400, 0x5D0, 0x600, 0x900, 0xE00, 0x1100, 0x1E00, 0x2000, 0x2100, 0x2460, 0x3000, 0x3300, 0x4E00, 0xAC00, 0xF900, 0xFB00, 0xFE30, 0xFF00, 0x1D400, 0x1F300, 0x1F900])
        out.append("".join(chr(block + rng.randrange(0x80)) for _ in range(rng.randint(1, 6))))
    # Characters that later versions of Unicode may define are no test of a model.
    return "".join(c for c in rng.choice(["", " ", "  "]).join(out) if unicodedata.category(c) not in ("Cn", "Cs"))


def mixed():
    words = [w for line in CORPUS for w in line.split()]
    return "".join(rng.choice(words) + rng.choice([" ", " ", "  ", "", "-", "\u3000"]) for _ in range(rng.randint(1, 12)))


TEXTS = ODD + FOREIGN + [characters() for _ in range(110)] + [mixed() for _ in range(80)] + LICENSE[::9]
assert len(TEXTS) > 250


def sentencepiece(name, **options):
    b = io.BytesIO()
    spm.SentencePieceTrainer.train(sentence_iterator=iter(CORPUS), model_writer=b, hard_vocab_limit=False, num_threads=1, minloglevel=2, **options)
    b = b.getvalue()
    p = spm.SentencePieceProcessor(model_proto=b)
    return write(f"{name}.model", b, [p.encode(t) for t in TEXTS])


def byte_level(name, prefix=False, whole=False, **options):
    t = Tokenizer(models.BPE(ignore_merges=whole, **options))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    t.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=600, initial_alphabet=[] if options else pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<unk>", "<|endoftext|>"], show_progress=False))
    t.add_tokens([AddedToken("<|end|>", normalized=True), AddedToken("<user>", normalized=False)])
    return write(f"{name}.json", t.to_str().encode(), [t.encode(x, add_special_tokens=False).ids for x in TEXTS], t)


def write(name, model, ids, t=None):
    (OUT / (name + ".gz")).write_bytes(gzip.compress(model, mtime=0))
    if name == "gpt2.json":
        m = json.loads(model)["model"]
        (OUT / "vocab.json").write_text(json.dumps(m["vocab"], ensure_ascii=False))
        (OUT / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in m["merges"]))
    return {"model": name, "ids": ids}


cases = [
    sentencepiece("unigram", vocab_size=500, model_type="unigram"),
    sentencepiece("unigram_user", vocab_size=450, model_type="unigram", user_defined_symbols=["<user>", "license", "東京"], normalization_rule_name="identity", treat_whitespace_as_suffix=True),
    sentencepiece("unigram_bytes", vocab_size=700, model_type="unigram", byte_fallback=True, normalization_rule_name="nmt_nfkc_cf", remove_extra_whitespaces=False, split_digits=True),
    sentencepiece("bpe", vocab_size=600, model_type="bpe", byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False, add_dummy_prefix=False),
    sentencepiece("bpe_user", vocab_size=500, model_type="bpe", user_defined_symbols=["<user>", "the", "  "], normalization_rule_name="identity"),
    byte_level("gpt2"),
    byte_level("roberta", prefix=True, whole=True),
    byte_level("unknown", unk_token="<unk>", fuse_unk=True),
]
lines = ",\n".join(json.dumps(c) for c in cases)
texts = ",\n".join(json.dumps(t) for t in TEXTS)
(OUT / "ids.json").write_text(f'{{"reference": "sentencepiece {spm.__version__}, tokenizers {tokenizers.__version__}", "texts": [\n{texts}\n], "cases": [\n{lines}\n]}}\n')
