import { html } from "hono/html";
import { describe, expect, it } from "vitest";
import { guardIo } from "../../../src/cli/guarded-io.ts";
import { HostformError, hiddenText, isCredential, shorten } from "../../../src/core/model/index.ts";
import { learnEnvironment, Redaction } from "../../../src/project/redaction.ts";
import { escapeLine, jsonText, renderDiagnostics } from "../../../src/report/index.ts";
import { cpuTimer } from "../../support/cpu-time.ts";
import fc, { character } from "../../support/fc.ts";
import { fakeIo } from "../../support/io.ts";
import { fixOf } from "../../support/remedies.ts";
import { diagnostic } from "../report/builders.ts";

const FROM = "env.PW";
const M = hiddenText({ from: [FROM] });

function knowing(...secrets: unknown[]): Redaction {
  const redaction = new Redaction();
  redaction.learn(FROM, secrets);
  return redaction;
}

/** Secrets of typical forms. None is a word or a number. */
const secrets = fc
  .oneof(
    fc.stringMatching(/^[a-z0-9]{8,40}$/),
    fc.base64String({ minLength: 8, maxLength: 60 }),
    fc.string({ unit: character, minLength: 8, maxLength: 24 }),
  )
  .map((text) => `${text.replace(/\s/g, "_")}#1`);

describe("a known secret", () => {
  it.each<[string, (text: string) => string]>([
    ["as it is", (text) => text],
    ["in JSON", (text) => JSON.stringify(text).slice(1, -1)],
    ["in JSON that is safe on a terminal", (text) => jsonText(text).slice(1, -1)],
    ["in HTML", (text) => String(html`${text}`)],
    ["on a line", escapeLine],
  ])("is replaced by its source: %s", (_, written) => {
    fc.assert(
      fc.property(fc.array(secrets, { minLength: 1, maxLength: 5 }), fc.nat(), (known, pick) => {
        const held = known[pick % known.length] ?? "";
        expect(knowing(...known).redact(`a ${written(held)} b`)).not.toContain(written(held));
      }),
    );
    expect(knowing('k3"<y>-of-all').redact(`a ${written('k3"<y>-of-all')} b`)).toBe(`a ${M} b`);
  });

  it.each([
    ["twice", "s3cret-one", "s3cret-ones3cret-one", `${M}${M}`],
    ["inside a word", "s3cret-one", "xs3cret-onex", `x${M}x`],
    ["beside one that it begins", ["s3cret-one", "s3cret-one-more"], "s3cret-one-more", M],
    ["line by line", "-----BEGIN KEY-----\nMIIEvgIBADANBgk7\n", "MIIEvgIBADANBgk7", M],
    ["wrapped", "correct horse 8", "correct\n  horse 8", M],
  ])("is replaced %s", (_, secret, text, expected) => expect(knowing(...[secret].flat()).redact(text)).toBe(expected));

  it("is replaced in a message that is wrapped to a terminal", () => {
    const detail = `${"The server said ".repeat(4)}correct horse 8`;
    const text = renderDiagnostics([diagnostic({ detail })], { remedies: fixOf, color: false, width: 40 });
    expect(knowing("correct horse 8").redact(text)).not.toMatch(/correct\s+horse/);
  });

  it("is replaced in the values and names of a document, which keeps its form", () => {
    const value = { "of s3cret-one": ["s3cret-one", 12345678, true, null, undefined], gone: undefined };
    expect(knowing("s3cret-one", "12345678").redactValue(value)).toEqual({
      [`of ${M}`]: [M, 12345678, true, null, undefined],
    });
  });

  it.each([
    ["shorter than eight characters", "view-1x", "permission = view-1x"],
    ["a word", "delete_me", "delete_me"],
    ["a word of the output", "hosting_service", "hosting_service"],
    ["a number", "100000000", "100000000"],
    ["a date", "2026-11-29", "2026-11-29"],
    ["no text", undefined, "undefined"],
    ["nothing but space", "         ", "    deep         indentation"],
  ])("stays if it is %s", (_, value, text) => expect(knowing(value).redact(text)).toBe(text));

  it("is not marked if only its beginning is printed, even where hostform cuts a text", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{9,30}[0-9]{3}$/), fc.nat(), (secret, at) => {
        const guess = secret.slice(0, 1 + (at % (secret.length - 1)));
        const wrong = `${guess.slice(0, -1)}${guess.endsWith("x") ? "y" : "x"}`;
        const shape = (text: string) => knowing(secret).redact(text).length;
        expect(shape(guess)).toBe(shape(wrong));
        for (const most of [80, 200, 400]) {
          const [one, other] = [guess, wrong].map((text) =>
            shorten(`${"-".repeat(most - text.length)}${text}zzz`, most),
          );
          expect(shape(one ?? "")).toBe(shape(other ?? ""));
        }
      }),
    );
  });

  it("is refused in values that approvers decide by, in either order, and no message shows it", () => {
    const fields = [["domain of hosting_service.www", "www.s3cret-one.example"] as const];
    const refused = (run: () => void) => {
      try {
        run();
      } catch (error) {
        return error instanceof HostformError ? error.diagnostics : [];
      }
      return [];
    };
    const [before, after] = [knowing("s3cret-one"), new Redaction()];
    expect(refused(() => after.refuseIn(fields))).toEqual([]);
    after.learn(FROM, "s3cret-one");
    for (const found of [refused(() => before.refuseIn(fields)), refused(() => after.refuseIn())]) {
      expect(found).toMatchObject([
        {
          code: "config.sensitive",
          summary: expect.stringMatching(/^domain of hosting_service.www holds a secret of this run: \S+/),
        },
      ]);
      expect(JSON.stringify(found)).not.toContain("s3cret-one");
    }
  });
});

describe("a value of the environment that is no known secret", () => {
  const names = fc.oneof(
    fc.constantFrom(
      "GITHUB_HEAD_REF",
      "CI_COMMIT_MESSAGE",
      "SONAR_PROJECT_KEY",
      "DEPLOY_TOKEN",
      "HTTPS_PROXY",
      "MY_PASSWORD",
    ),
    fc.stringMatching(/^[A-Z_]{1,20}$/),
  );
  const values = fc.oneof(
    fc.constantFrom(
      "fix;token=evil-casino.example;key=collect.evil.example/x;pw=mallory@evil.example",
      "Merge: password=450 secret=500.00",
      "acme-website",
      "https://user:hunter2hunter2@proxy.example",
      "delete",
    ),
    fc.string(),
  );

  it("does not change a byte of any output", () => {
    fc.assert(
      fc.property(fc.dictionary(names, values), fc.array(fc.string()), (env, others) => {
        const open = Object.fromEntries(Object.entries(env).filter(([name]) => !isCredential(name)));
        const redaction = new Redaction();
        learnEnvironment(redaction, { ...open, HOSTING_TOKEN: "7|0123456789abcdef" });
        const text = [...Object.values(open), ...others].join("\n");
        fc.pre(!text.includes("0123456789abcdef"));
        expect(redaction.redact(text)).toBe(text);
        expect(redaction.redactValue({ text })).toEqual({ text });
      }),
    );
  });
});

describe("the guard before the streams", () => {
  const guarded = (...known: string[]) => {
    const fake = fakeIo({ answers: ["yes"] });
    return { fake, io: guardIo(fake, knowing(...known)) };
  };

  it("passes our colours, and shows all other control characters", () => {
    const { fake, io } = guarded();
    io.err(
      "\u001b[1m\u001b[31mError:\u001b[39m\u001b[22m a\tb\n\u001b[2J\u001b[5mx\u202e\u009b\u0007\u001b]8;;u\u0007\r\u001b[41m",
    );
    expect(fake.stderr()).toBe(
      "\u001b[1m\u001b[31mError:\u001b[39m\u001b[22m a\tb\n\\u001b[2J\\u001b[5mx\\u202e\\u009b\\u0007\\u001b]8;;u\\u0007\\u000d\\u001b[41m",
    );
  });

  it("hides secrets in output and questions, and not in revealed values", async () => {
    const { fake, io } = guarded("s3cret-one");
    io.out("s3cret-one");
    io.reveal("s3cret-one");
    await io.ask("Is it s3cret-one?");
    expect([fake.stdout(), fake.questions]).toEqual([`${M}s3cret-one`, [`Is it ${M}?`]]);
  });

  it("moves the cursor only by its own function", () => {
    const { fake, io } = guarded();
    io.err("\u001b[3A\u001b[J");
    io.rewind(2);
    expect(fake.stderr()).toBe("\\u001b[3A\\u001b[J\r\u001b[2A\u001b[J");
  });
});

describe("time", () => {
  it("hardly grows with the number of secrets: 5,000 secrets, a plan of a megabyte", () => {
    const many = Array.from({ length: 5000 }, (_, i) => `${(i * 7919).toString(36)}_${String(i).padStart(24, "x")}`);
    const redaction = knowing(...many);
    const line = '      + domain              = "www.some-client-of-ours.example"\n';
    const text = line.repeat(Math.ceil(1_000_000 / line.length)) + many[1234];
    const elapsed = cpuTimer();
    expect(redaction.redact(text).endsWith(M)).toBe(true);
    // About 100 ms. A separate search for each secret takes several seconds.
    expect(elapsed()).toBeLessThan(1000);
  });
});
