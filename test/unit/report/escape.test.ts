import { describe, expect, it } from "vitest";
import { type ApplyEvent, breakCommands } from "../../../src/core/model/index.ts";
import {
  advanceStatus,
  escapeLine,
  escapeText,
  jsonText,
  planJson,
  progressLine,
  quote,
  renderDiagnostics,
  renderListing,
  renderOutcome,
  renderPlan,
  renderPlanMarkdown,
  renderStatus,
  requestEventLine,
  startStatus,
} from "../../../src/report/index.ts";
import fc from "../../support/fc.ts";
import { fixOf } from "../../support/remedies.ts";
import { at, change, diagnostic, drift, invoice, outcome, plain, plan, reason, result } from "./builders.ts";
import { COMMANDS, dangerous, hostile, liveCommands } from "./hostile.ts";

describe("escaping", () => {
  it("lets no control, bidirectional or zero-width character through on a line", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(dangerous(escapeLine(text))).toEqual([]);
        expect(dangerous(quote(text))).toEqual([]);
      }),
    );
  });

  it("shows a no-break space, which looks like another character, by its code", () => {
    expect(escapeLine("a\u00a0b\u2009c d")).toBe(String.raw`a\u00a0b\u2009c d`);
    expect(quote("a\u202f")).toBe(String.raw`"a\u202f"`);
  });

  it("lets newline and tab through where several lines are allowed, and nothing else", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(dangerous(escapeText(text), "\n\t")).toEqual([]);
      }),
    );
  });

  it("leaves what people write in their languages as it is", () => {
    for (const text of ["Ana Kapanadze", "ანა", "日本語 ドメイン", "naïve café", "🚀", "שלום", "例\u3000例"]) {
      expect(escapeLine(text)).toBe(text);
    }
  });

  it.each([
    ["\u001b[2J", "\\u001b[2J", "an escape sequence is shown"],
    ["a\nb\tc", "a\\nb\\tc", "a line stays one line"],
    ["pay\u202egpj.exe", "pay\\u202egpj.exe", "a reversed name is shown as it is stored"],
    ["\u{e0041}", "\\u{e0041}", "a tag character outside the basic plane"],
    ["\ud800", "\\ud800", "half of a surrogate pair"],
  ])("%j becomes %s: %s", (text, shown) => expect(escapeLine(text)).toBe(shown));

  it("quotes so that a backslash cannot pass for an escape", () => {
    expect(quote('a\\u001b"\u001b')).toBe('"a\\\\u001b\\"\\u001b"');
  });

  it("makes CRLF a newline in text of several lines", () => expect(escapeText("a\r\nb\rc")).toBe("a\nb\\u000dc"));
});

describe("commands of a CI's agent", () => {
  it.each([
    ["##[error]no", "##\\u005berror]no", "GitHub takes it anywhere in a line"],
    ["a ##vso[task.setvariable variable=A]b", "a ##vso\\u005btask.setvariable variable=A]b", "Azure too"],
    ["a\n \t::set-env name=A::b", "a\n \t:\\u003aset-env name=A::b", "GitHub takes it behind white space"],
    ["\u001b[31m::x", "\u001b[31m:\\u003ax", "a colour is no beginning"],
    ["#\u0301#[x]", "#\u0301#\\u005bx]", "a mark between weighs nothing"],
    ["fe80::1 a::b # [x] #[x]", "fe80::1 a::b # [x] #[x]", "what is no command stays"],
  ])("%j is shown as %j: %s", (text, shown) => expect(breakCommands(text)).toBe(shown));

  it("are none any more in any text, and mean the same within JSON", () => {
    fc.assert(
      fc.property(hostile.map(escapeText), (text) => {
        expect(liveCommands(breakCommands(text))).toEqual([]);
        expect(breakCommands(breakCommands(text))).toBe(breakCommands(text));
        const document = jsonText({ [text.toWellFormed()]: text.toWellFormed() }, 2);
        expect(JSON.parse(breakCommands(document))).toEqual(JSON.parse(document));
      }),
    );
  });

  it.each(["\ufeff", "#", ":", " ", "\n", "\r", "\u2028", "\u001b[31m", "\u0301", "#a"])(
    "are sought in one pass: a lot of %j",
    (piece) => {
      expect(breakCommands(piece.repeat(50_000)).length).toBeGreaterThan(0);
    },
  );

  it("are broken in a comment in Markdown wherever it is made", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(...COMMANDS), hostile)), (parts) => {
        const text = parts.join("");
        const bad = diagnostic({ summary: text, detail: `a\n${text}`, remedies: [text] });
        const changes = [change({ address: `hosting_service.${text}`, actions: ["update"], after: { text } })];
        expect(liveCommands(renderPlanMarkdown(plan(changes, { project: text, diagnostics: [bad] }), plain))).toEqual(
          [],
        );
      }),
      { numRuns: 60 },
    );
  });

  it("of a code host begin no line of a comment in Markdown", () => {
    const bad = diagnostic({ detail: "a\n/approve\n\t/close" });
    const lines = renderPlanMarkdown(plan([], { diagnostics: [bad] }), plain).split("\n");
    expect(lines).toEqual(expect.arrayContaining(["\\/approve", "\t\\/close"]));
    expect(lines.filter((line) => /^\s*\//.test(line))).toEqual([]);
  });
});

describe("jsonText", () => {
  it("is safe on a terminal and means the same", () => {
    fc.assert(
      fc.property(fc.jsonValue(), hostile, (value, text) => {
        const document = [value, { [text]: text.toWellFormed() }];
        const printed = jsonText(document, 2);
        expect(dangerous(printed, "\n")).toEqual([]);
        expect(JSON.parse(printed)).toEqual(JSON.parse(JSON.stringify(document)));
      }),
    );
  });
});

describe("everything printed", () => {
  const event = (address: string, text: string): ApplyEvent => ({
    type: "complete",
    address,
    action: "create",
    seconds: 1,
    id: text,
    outcome: outcome(address, { awaiting: "payment", invoice: invoice({ number: text }) }),
  });

  // One test for all renderers detects a new field without escaping.
  it("holds no dangerous character, whatever stands in any field", () => {
    fc.assert(
      fc.property(hostile, fc.boolean(), (text, long) => {
        const more = { width: long ? 60 : 20, color: false, remedies: fixOf };
        const bad = diagnostic({
          summary: text,
          detail: text,
          remedies: [text],
          address: text,
          range: { ...at(`key: ${text.replaceAll("\n", "")}`, "key"), file: text },
        });
        const skipped = outcome(text, { result: "skipped", diagnostics: [{ ...bad, code: "apply.skipped" }] });
        const planned = plan(
          [
            change({
              address: `hosting_service.${text}`,
              provider: text,
              actions: ["update"],
              before: { [text]: text, same: text, text: `a\n${text}`, list: [text, { id: text }] },
              after: { [text]: `${text}x`, same: text, text: `b\n${text}`, list: [{ id: `${text}y` }, text] },
              config: { [text]: text },
              reasons: [reason("drift", text, text)],
              deferred: [text],
              quote: { currency: text, list: 1, billed: null, most: 1, unknown: text },
            }),
            change({ address: text, deferred: [text] }),
          ],
          {
            drift: [drift({ [text]: "moved" }, { address: `hosting_service.${text}` })],
            cost: [{ currency: text, orders: 2, list: 1, billed: null, unknown: 1 }],
            diagnostics: [bad, { ...bad, severity: "warning" }],
          },
        );
        const ended = result([
          outcome(text, { awaiting: "payment", invoice: invoice({ number: text, status: text, currency: text }) }),
          skipped,
        ]);
        const outputs = [
          renderPlan(planned, more),
          renderDiagnostics([bad, bad, bad], more),
          renderOutcome(planned, ended, more),
          progressLine(event(text, text), more),
          renderStatus(
            advanceStatus(startStatus(planned, 0), { type: "start", address: text, action: "update" }, 0),
            0,
            more,
          ),
          renderStatus(
            advanceStatus(startStatus(planned, 0), { type: "waiting", addresses: [text], seconds: 1 }, 0),
            0,
            more,
          ),
          progressLine({ type: "waiting", addresses: [text, text, text, text], seconds: 1 }, more),
          requestEventLine({ method: text, path: text, error: text, ms: 1, attempt: 1 }),
          renderListing("webhooks", [{ id: text, url: text, events: [text] }], more),
          jsonText(planJson(planned, plain), 2),
        ];
        for (const output of outputs) expect(dangerous(output, "\n\t")).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
