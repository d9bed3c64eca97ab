import { type Channel, capitalized, formatOf } from "../../core/model/index.ts";
import { firstOf } from "../../report/index.ts";
import type { News } from "./news.ts";

/** A notification. This file formats it as text, and as JSON for each format. Pure. */

export interface Message {
  readonly project: string;
  readonly environment?: string | undefined;
  /** Id of the message. A repeated message has the same id, so that a receiver can ignore it. */
  readonly id: string;
  /** Time of the message (ISO 8601). */
  readonly time: string;
  readonly news: readonly News[];
}

/** Maximum number of news in a text. For the rest, the text contains only their number. */
const MOST = 20;

/** Returns a title, and one line per news. */
export function textOf({ project, environment, news }: Omit<Message, "id" | "time">): string {
  const lines = news.map((one) =>
    [titled(one), one.detail, one.fix && `Fix: ${one.fix}`]
      .flatMap((part) => part?.trim().replace(/\.$/, "") || [])
      .join(". "),
  );
  return [`hostform, ${environment ? `${project}, ${environment}` : project}`, ...firstOf(lines, MOST, "")].join("\n");
}

function titled({ event, address = "", place, text }: News): string {
  if (event === "plan_waits") return `A plan waits: ${text.replace(/^Plan: /, "")}`;
  if (event === "applied") return text.replace(/^(Apply|Destroy) incomplete[.:!] */, "An apply ended with errors: ");
  const where = [text.includes(address) ? "" : address, place].filter(Boolean).join(", ");
  return [capitalized(event.replaceAll("_", " ")), where, text].filter(Boolean).join(": ");
}

/** Returns the JSON document for a channel. */
export function documentOf(channel: Channel, { id, time, ...message }: Message): object {
  const text = textOf(message);
  const format = formatOf(channel);
  // In Slack, `<!channel>` would mention everyone.
  if (format === "slack") return { text: text.replaceAll("&", "&amp;").replaceAll("<", "&lt;") };
  if (format === "teams") {
    // Teams renders Markdown in a text block, but not in a text run.
    const body = text
      .split("\n")
      .map((line) => ({ type: "RichTextBlock", inlines: [{ type: "TextRun", text: line }] }));
    const content = { type: "AdaptiveCard", version: "1.4", body };
    return { type: "message", attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", content }] };
  }
  const type = "hostform.news";
  const own = { specversion: "1.0", id, source: `/hostform/${message.project}`, type, time };
  // Receivers based on `hostform/webhooks` require `event` and `timestamp`.
  return { ...own, event: type, timestamp: time, data: { ...message, text } };
}
