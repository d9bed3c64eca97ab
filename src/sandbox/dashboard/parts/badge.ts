/** Words for a state, each with a shape and a colour of its own: never the colour alone. */
import { html } from "hono/html";
import type { Html } from "./text.ts";

export type Tone = "good" | "wait" | "bad" | "quiet";

const TONES: Readonly<Record<string, Tone>> = {
  active: "good",
  provisioned: "good",
  paid: "good",
  delivered: "good",
  accepted: "good",
  completed: "good",
  pending: "wait",
  provisioning: "wait",
  unpaid: "wait",
  offered: "wait",
  draft: "wait",
  submitted: "wait",
  in_progress: "wait",
  suspended: "bad",
  failed: "bad",
  abandoned: "bad",
  blocked: "bad",
  fraud: "bad",
  overdue: "bad",
};

/** A status word of a record. */
export function badge(word: string, tone: Tone = TONES[word] ?? "quiet"): Html {
  return html`<span class="badge ${tone}">${word.replaceAll("_", " ")}</span>`;
}

/** The status of an answer: 201, 429, or none at all. */
export function httpStatus(status: number | null, none = "cut"): Html {
  if (status === null) return html`<span class="badge bad">${none}</span>`;
  const tone: Tone = status < 300 ? "good" : status < 400 ? "quiet" : status < 500 ? "wait" : "bad";
  return html`<span class="badge nums ${tone}">${status}</span>`;
}
