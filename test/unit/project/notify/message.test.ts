import { describe, expect, it } from "vitest";
import { formatOf } from "../../../../src/core/model/index.ts";
import { documentOf, textOf } from "../../../../src/project/notify/message.ts";

const message = {
  project: "acme",
  environment: "production",
  id: "id-1",
  time: "2026-11-21T10:00:00.000Z",
  news: [
    {
      event: "condition_began" as const,
      address: "hosting_service.a",
      text: "<!channel> & a is suspended",
      detail: "It is overdue.",
      fix: "Pay it.",
    },
    { event: "plan_waits" as const, text: "Plan: 1 to add." },
    { event: "applied" as const, text: "Apply incomplete: 1 failed." },
  ],
};
const TEXT =
  "hostform, acme, production\nCondition began: hosting_service.a: <!channel> & a is suspended. It is overdue. Fix: Pay it\nA plan waits: 1 to add\nAn apply ended with errors: 1 failed";

it.each([
  ["https://hooks.slack.com/services/T0/B0/x", "slack"],
  ["https://hooks.slack.com.evil.example/services", "cloudevents"],
  ["https://acme.webhook.office.com/webhookb2/x", "teams"],
  ["https://prod-1.westeurope.logic.azure.com:443/workflows/x", "teams"],
  ["https://x.api.powerplatform.com/powerautomate/x", "teams"],
  ["https://logic.azure.com.evil.example/x", "cloudevents"],
  ["https://hooks.acme.example/slack", "cloudevents"],
])("the format of %s is %s", (url, format) => {
  expect(formatOf({ url })).toBe(format);
  expect(formatOf({ url, format: "teams" })).toBe("teams");
});

describe("a message", () => {
  it("is a title and one line for each news, at most twenty", () => {
    expect(textOf(message)).toBe(TEXT);
    const many = Array.from({ length: 25 }, (_, nth) => ({ event: "failed" as const, text: `cause ${nth}` }));
    const lines = textOf({ project: "acme", news: many }).split("\n");
    expect([lines.length, lines[0], lines[20]]).toEqual([22, "hostform, acme", "Failed: cause 19"]);
    expect(lines.at(-1)).toContain("5 more");
  });

  it("has each address once", () => {
    const news = { event: "failed" as const, address: "hosting_service.a", place: "hosting.yaml:3" };
    const lines = ["hosting_service.a is gone", "It is gone"].map((text) =>
      textOf({ project: "acme", news: [{ ...news, text }] }),
    );
    expect(lines).toEqual([
      "hostform, acme\nFailed: hosting.yaml:3: hosting_service.a is gone",
      "hostform, acme\nFailed: hosting_service.a, hosting.yaml:3: It is gone",
    ]);
  });

  it("mentions nobody in Slack", () => {
    const document = documentOf({ format: "slack" }, message);
    expect(document).toEqual({ text: TEXT.replace("<!channel> &", "&lt;!channel> &amp;") });
  });

  it("is a card of text runs in Teams, which have no Markdown", () => {
    const document = documentOf({ format: "teams" }, message) as {
      attachments: { content: { body: object[] } }[];
    };
    expect(document).toMatchObject({
      type: "message",
      attachments: [{ contentType: "application/vnd.microsoft.card.adaptive" }],
    });
    expect(document.attachments[0]?.content).toMatchObject({ type: "AdaptiveCard", version: "1.4" });
    expect(document.attachments[0]?.content.body).toEqual(
      TEXT.split("\n").map((text) => ({ type: "RichTextBlock", inlines: [{ type: "TextRun", text }] })),
    );
  });

  it("is a CloudEvent, and an event of hostform/webhooks", () => {
    expect(documentOf({}, message)).toEqual({
      specversion: "1.0",
      id: "id-1",
      source: "/hostform/acme",
      type: "hostform.news",
      event: "hostform.news",
      time: "2026-11-21T10:00:00.000Z",
      timestamp: "2026-11-21T10:00:00.000Z",
      data: { project: "acme", environment: "production", news: message.news, text: TEXT },
    });
  });
});
