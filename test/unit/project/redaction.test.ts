import { describe, expect, it } from "vitest";
import { guardIo } from "../../../src/cli/guarded-io.ts";
import { shorten } from "../../../src/core/model/index.ts";
import { Redaction, SECRET_MARK } from "../../../src/project/redaction.ts";
import { breakMarkdown } from "../../../src/report/escape.ts";
import { escapeHtml, jsonText, renderDiagnostics } from "../../../src/report/index.ts";
import { cpuTimer } from "../../support/cpu-time.ts";
import fc, { character, runs } from "../../support/fc.ts";
import { fakeIo } from "../../support/io.ts";
import { fixOf } from "../../support/remedies.ts";
import { diagnostic } from "../report/builders.ts";

function knowing(...secrets: unknown[]): Redaction {
  const redaction = new Redaction();
  redaction.learn(...secrets);
  return redaction;
}

/** Secrets as people and machines make them, and any other; at least six characters that can be seen. */
const secrets = fc
  .oneof(
    fc.stringMatching(/^[a-z0-9]{6,40}$/),
    fc.base64String({ minLength: 8, maxLength: 60 }),
    fc.string({ unit: fc.constantFrom(...Array.from("aZ9 \"'\\/<>&%+=?:;@#[`${}é💶")), minLength: 6, maxLength: 24 }),
    fc.string({ unit: character, minLength: 6, maxLength: 24 }),
  )
  .filter((secret) => secret.length >= 6 && secret.trim() !== "" && !secret.includes("\n"));

const inner = (text: string) => JSON.stringify(text).slice(1, -1);
const base64 = (text: string) => Buffer.from(text, "utf8").toString("base64");

/** The ways in which a text may hold a secret; written without a look at the code under test. */
const WAYS: readonly (readonly [name: string, way: (secret: string) => string])[] = [
  ["as it is", (secret) => secret],
  ["in JSON", inner],
  ["in JSON within JSON", (secret) => inner(inner(secret))],
  ["in JSON that is safe on a terminal", (secret) => jsonText(secret).slice(1, -1)],
  ["in HTML", escapeHtml],
  ["in a comment in Markdown", breakMarkdown],
  ["URL-encoded", (secret) => encodeURIComponent(secret.toWellFormed())],
  ["as a query", (secret) => new URLSearchParams({ s: secret.toWellFormed() }).toString().slice(2)],
];
const seen = (text: string) => text.replace(/[\s\\\p{Cc}]/gu, "").length;

describe("any text with any secrets", () => {
  it("stays JSON where it was: a mark takes the backslash of the character that it stands for", () => {
    fc.assert(
      fc.property(secrets, fc.constantFrom("", "of ", '"', "\\", "\n"), (secret, before) => {
        const redaction = knowing(secret);
        for (const text of [JSON.stringify({ text: before + secret }), jsonText({ text: before + secret })])
          expect(() => JSON.parse(redaction.redact(text)), redaction.redact(text)).not.toThrow();
      }),
    );
    expect(knowing('"quoted').redact(String.raw`{"text":"\\\"quoted"}`)).toBe(`{"text":"${SECRET_MARK}"}`);
  });

  it.each(WAYS)("comes out without them: %s", (_, way) => {
    fc.assert(
      fc.property(fc.array(secrets, { minLength: 1, maxLength: 5 }), fc.string(), fc.nat(), (known, other, pick) => {
        const held = known[pick % known.length] ?? "";
        fc.pre(!SECRET_MARK.includes(way(held)));
        const text = `${other}${way(held)}${other}${way(held)}`;
        expect(knowing(...known).redact(text)).not.toContain(way(held));
      }),
      { numRuns: runs(300) },
    );
  });

  it("comes out without them in base64, whatever stands around them there", () => {
    fc.assert(
      fc.property(secrets, fc.string(), fc.string(), (secret, before, after) => {
        fc.pre(seen(secret) >= 6 && secret.isWellFormed());
        const text = base64(`${before}${secret}${after}`);
        const out = knowing(secret).redact(text);
        expect(out).toContain(SECRET_MARK);
        expect(Buffer.from(out.replace(SECRET_MARK, ""), "base64").toString("utf8")).not.toContain(secret);
      }),
    );
  });

  it("comes out without them when it is written in pieces, to either stream", () => {
    fc.assert(
      fc.property(
        fc.array(secrets, { minLength: 1, maxLength: 3 }),
        fc.array(fc.nat(200), { maxLength: 8 }),
        fc.string(),
        fc.constantFrom("out" as const, "err" as const),
        (known, cuts, other, stream) => {
          const text = known.map((secret) => `${other}${secret}`).join("");
          const [fake, places] = [fakeIo(), [...new Set(cuts)].sort((a, b) => a - b)];
          const io = guardIo(fake, knowing(...known));
          for (const [i, start] of [0, ...places].entries()) io[stream](text.slice(start, places[i]));
          io.flush();
          const written = stream === "out" ? fake.stdout() : fake.stderr();
          for (const secret of known.filter((one) => seen(one) >= 6)) expect(written).not.toContain(secret);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it("is not touched otherwise", () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z]{12,20}$/),
        fc.string({ unit: fc.constantFrom(...'0123 \n\\"(){}') }),
        (secret, text) => {
          expect(knowing(secret).redact(text)).toBe(text);
        },
      ),
    );
  });
});

describe("a secret is found", () => {
  const PHRASE = "correct horse battery staple";
  it.each([
    ["wrapped over lines", PHRASE, "said: correct horse\n  battery staple.", `said: ${SECRET_MARK}.`],
    ["with colours in it", "whsec_0123456789", "whsec_\u001b[1m0123\u001b[22m456789!", `${SECRET_MARK}!`],
    ["in base64 with line breaks", "0123456789abcdefghij", "MDEyMzQ1\nNjc4OWFi\nY2RlZmdoaWo=", `${SECRET_MARK}=`],
    ["where two overlap", ["abcdefgh", "efghijkl"], "-abcdefghijkl-", `-${SECRET_MARK}-`],
    [
      "where one is part of another",
      ["12|abcdefgh", "abcdefgh"],
      "12|abcdefgh, abcdefgh",
      `${SECRET_MARK}, ${SECRET_MARK}`,
    ],
    ["line by line", "-----BEGIN KEY-----\nabcdefghij\n", "1: abcdefghij", `1: ${SECRET_MARK}`],
    ["next to itself", "abcdef", "abcdefabcdef", `${SECRET_MARK}${SECRET_MARK}`],
    ["made of backslashes", "\\\\\\\\\\\\", "a\\\\\\\\\\\\b", `a${SECRET_MARK}b`],
  ])("%s", (_, secret, text, expected) => {
    expect(knowing(...[secret].flat()).redact(text)).toBe(expected);
  });

  it("in a message that is wrapped to a terminal", () => {
    const text = renderDiagnostics([diagnostic({ detail: `${"The server said ".repeat(4)}${PHRASE}` })], {
      remedies: fixOf,
      color: true,
      width: 40,
    });
    expect(text).not.toContain(PHRASE);
    expect(knowing(PHRASE).redact(text)).toMatch(/said\s+\(secret\)/);
  });

  it("where it stands whole alone: a guess of its beginning looks like any other, whatever follows it", () => {
    const letters = fc.stringMatching(/^[a-z0-9_]{12,40}$/);
    const after = fc.constantFrom("", "…", "...", " …", "\u2026\u2026", '"', "\n");
    fc.assert(
      fc.property(letters, fc.nat(), after, fc.nat(1000), (secret, at, end, padding) => {
        const guess = secret.slice(0, 1 + (at % (secret.length - 1)));
        const wrong = `${guess.slice(0, -1)}${guess.endsWith("x") ? "y" : "x"}`;
        const shape = (text: string) => knowing(secret).redact(`${"-".repeat(padding)}${text}${end}`).length;
        const form = (text: string) => (written: (text: string) => string) => shape(written(text));
        for (const written of [(text: string) => text, base64, (text: string) => Buffer.from(text).toString("hex")])
          expect(form(guess)(written)).toBe(form(wrong)(written));
        // Neither does it help to have hostform cut there.
        for (const most of [80, 200, 400])
          expect(shape(shorten(`${"-".repeat(most - guess.length)}${guess}zzz`, most))).toBe(
            shape(shorten(`${"-".repeat(most - guess.length)}${wrong}zzz`, most)),
          );
      }),
    );
  });

  it("and what hostform cuts off has no longer part of it than nobody would know it by", () => {
    const word = fc.stringMatching(/^[a-zA-Z0-9_/+=.|-]{6,60}$/);
    fc.assert(
      fc.property(word, fc.string(), fc.string(), fc.integer({ min: 1, max: 80 }), (secret, before, after, most) => {
        fc.pre(!`${before}${after}`.includes(secret.slice(0, 6)));
        const shown = knowing(secret).redact(shorten(`${before} ${secret} ${after}`, most));
        expect(shown).not.toContain(secret.slice(0, 6));
        expect(shorten(secret, 200)).toBe(secret);
      }),
    );
  });
});

describe("what is not hidden", () => {
  it.each([
    ["shorter than six characters: it would be found in any output", "view", "permission = view"],
    ["no text", undefined, "undefined"],
    ["nothing but space", "         ", "    deep         indentation"],
  ])("%s", (_, value, text) => expect(knowing(value).redact(text)).toBe(text));

  it("a text without secrets comes back as it is, the same string", () => {
    const text = "x".repeat(1000);
    expect(knowing("abcdefgh").redact(text)).toBe(text);
  });
});

describe("the guard before the streams", () => {
  const guarded = (...secrets: string[]) => {
    const fake = fakeIo({ answers: ["yes"] });
    return { fake, io: guardIo(fake, knowing(...secrets)) };
  };

  it("lets our colours through, and shows everything else that would act on a terminal", () => {
    const { fake, io } = guarded();
    io.err(
      "\u001b[1m\u001b[31mError:\u001b[39m\u001b[22m a\tb\n\u001b[2J\u001b[5mx\u202e\u009b\u0007\u001b]8;;u\u0007\r\u001b[41m",
    );
    expect(fake.stderr()).toBe(
      "\u001b[1m\u001b[31mError:\u001b[39m\u001b[22m a\tb\n\\u001b[2J\\u001b[5mx\\u202e\\u009b\\u0007\\u001b]8;;u\\u0007\\u000d\\u001b[41m",
    );
  });

  it("does not keep a line waiting, and keeps only what may go on", () => {
    const { fake, io } = guarded("abcdefgh");
    io.out("the alphabet: abc\n");
    expect(fake.stdout()).toBe("the alphabet: abc\n");
    io.out("then abc");
    expect(fake.stdout()).toBe("the alphabet: abc\nthen ");
    io.out("d.");
    expect(fake.stdout()).toBe("the alphabet: abc\nthen abcd.");
  });

  it("writes what waits before a question, another program's output, and the end", async () => {
    const { fake, io } = guarded("abcdefgh");
    io.err("abc");
    await io.ask("Is it abcdefgh?");
    expect([fake.stderr(), fake.questions]).toEqual(["abc", [`Is it ${SECRET_MARK}?`]]);
    io.out("abc");
    await io.run("true", [], {});
    expect(fake.stdout()).toBe("abc");
    io.out("abc");
    io.reveal("abcdefgh");
    io.out("abc");
    io.flush();
    expect(fake.stdout()).toBe("abcabcabcdefghabc");
  });

  it("goes up and clears by its own door alone", () => {
    const { fake, io } = guarded();
    io.err("\u001b[3A\u001b[J");
    io.rewind(2);
    expect(fake.stderr()).toBe("\\u001b[3A\\u001b[J\r\u001b[2A\u001b[J");
  });
});

describe("time", () => {
  it("hardly grows with the number of secrets: 5,000 of them, a plan of a megabyte", () => {
    const many = Array.from({ length: 5000 }, (_, i) => `${(i * 7919).toString(36)}_${String(i).padStart(24, "x")}`);
    const redaction = knowing(...many);
    const line = '      + domain              = "www.some-client-of-ours.example"\n';
    const text = line.repeat(Math.ceil(1_000_000 / line.length)) + many[1234];
    const elapsed = cpuTimer();
    expect(redaction.redact(text).endsWith(SECRET_MARK)).toBe(true);
    // About 10 ms. Looking for each secret separately takes some seconds.
    expect(elapsed()).toBeLessThan(1000);
  });
});
