import { randomUUID } from "node:crypto";
import { type Channel, capitalized, formatOf } from "../../core/model/index.ts";
import { firstOf } from "../../report/index.ts";
import type { News } from "./news.ts";

/** The text of a notification, and its JSON for each format. Pure, except for the id. */

export interface Message {
  readonly project: string;
  readonly environment?: string | undefined;
  readonly news: readonly News[];
}

/** Maximum number of news in a text. Further news are counted. */
const MOST = 20;

/** Returns a title and one line for each news. */
export function textOf({ project, environment, news }: Message): string {
  const lines = news.map(({ event, text, detail }) =>
    [`${capitalized(event.replaceAll("_", " "))}: ${text.replace(/\.$/, "")}`, detail].filter(Boolean).join(". "),
  );
  return [`hostform, ${environment ? `${project}, ${environment}` : project}`, ...firstOf(lines, MOST, "")].join("\n");
}

/** Returns the JSON for a channel. @param now milliseconds since the epoch. */
export function documentOf(channel: Channel, message: Message, now: number): object {
  const text = textOf(message);
  const format = formatOf(channel);
  // Slack would interpret `<!channel>` as a mention.
  if (format === "slack") return { text: text.replaceAll("&", "&amp;").replaceAll("<", "&lt;") };
  if (format === "teams") {
    // Teams interprets Markdown in a text block, but not in a text run.
    const body = text
      .split("\n")
      .map((line) => ({ type: "RichTextBlock", inlines: [{ type: "TextRun", text: line }] }));
    const content = { type: "AdaptiveCard", version: "1.4", body };
    return { type: "message", attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", content }] };
  }
  const [type, time] = ["hostform.news", new Date(now).toISOString()];
  const own = { specversion: "1.0", id: randomUUID(), source: `/hostform/${message.project}`, type, time };
  // With `event` and `timestamp`, receivers of `hostform/webhooks` accept the document.
  return { ...own, event: type, timestamp: time, data: { ...message, text } };
}
