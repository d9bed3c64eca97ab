import * as z from "zod";
import type { WebhookRecord } from "../api/index.ts";
import { problem } from "../messages/index.ts";
import {
  EVENTS,
  hasPlainHost,
  hasUnknown,
  isSameTarget,
  type Json,
  normalUrl,
  sameUrl,
  sentUrl,
} from "../model/index.ts";
import { attribute, createdAtAttribute, idAttribute, sameSet } from "./attribute.ts";
import type { Kind, Remote } from "./kind.ts";
import { ALIVE, LIVES, type Life, lifeOf } from "./life.ts";
import { fingerprintAttribute, secretOutputAttribute } from "./secret-output.ts";

const letters = (name: Json) =>
  String(name)
    .toLowerCase()
    .replace(/[^a-z*]/g, "");

/**
 * Returns true if the returned events contain no event that was not sent, because more events mean more access. The response
 * may contain fewer events. Fewer events in a later list may be another person's change.
 */
function addsNone(sent: Json, shown: Json, isAnswer: boolean): boolean {
  if (!Array.isArray(sent) || !Array.isArray(shown)) return false;
  if (isAnswer ? shown.length > sent.length : shown.length !== sent.length) return false;
  const others = EVENTS.map(letters).filter((name) => !sent.map(letters).includes(name));
  return !shown.map(letters).some((name) => name.includes("*") || others.includes(name));
}

/** Type of the receiver's URL. Policies, plans and the host must all find the same host name in the URL. */
const receiver = z
  .url({ protocol: /^https?$/, abort: true, error: "expected an http or https URL" })
  .refine(
    hasPlainHost,
    "its host can be read in two ways: write `https://HOST/…`, without a backslash or a second `@`",
  );

const attributes = z.strictObject({
  id: idAttribute("subscription"),
  url: attribute(receiver, {
    description: "URL that receives the events.",
    change: "replace",
    decisive: "host",
    same: sameUrl,
    ownForm: isSameTarget,
    example: "https://hooks.acme.example/hosting",
  }),
  events: attribute(z.array(z.enum(EVENTS)).min(1, "at least one event"), {
    description: "Names of the events to deliver, in any order.",
    change: "replace",
    decisive: true,
    set: true,
    same: sameSet,
    ownForm: addsNone,
    example: ["service.provisioned", "invoice.paid"],
  }),
  secret_output: secretOutputAttribute("secret"),
  secret: attribute(z.string(), {
    description:
      "The signing secret. The API returns it once, at registration. It is stored in the state, or written to `secret_output`. It is null with `secret_output`, and after an import.",
    computed: true,
    sensitive: true,
    unreadable: true,
    fingerprint: "secret_fingerprint",
  }),
  secret_fingerprint: fingerprintAttribute("secret"),
  created_at: createdAtAttribute(),
});

/**
 * Returns the events that a declaration accepts, and patterns. A host may add its own events ("ping"); these are removed. If
 * no event is known, all stay.
 */
function declarable(events: readonly string[]): readonly string[] {
  const known = events.filter((name) => name.includes("*") || EVENTS.some((event) => event === name));
  return known.length === 0 ? events : known;
}

const remote = (record: WebhookRecord, life: Life = ALIVE): Remote => ({
  id: record.id,
  ...life,
  attributes: { id: record.id, url: record.url, events: declarable(record.events), created_at: record.created_at },
});

/** Webhook subscriptions (§4 webhooks endpoints, §6 Events). */
export const webhook: Kind<"createWebhook"> = {
  type: "hosting_webhook",
  section: "webhooks",
  noun: "webhook",
  words: {
    name: "url",
    site: "url",
    receiver: "url",
    integration: {
      create: "{site} receives events from now on.",
      delete: "{site} receives no more events.",
      replace: "The webhook of {site} is recreated and gets a new signing secret.",
      undo: "Recreate the webhook, with a new secret.",
    },
  },
  summary: "A subscription to events, delivered to a URL.",
  description: `Delivers events of the account to a URL, signed with the subscription's own secret (\`X-Service-Signature\`).

The API returns the signing secret once, when the subscription is created. hostform stores the secret in the state (sensitive,
never shown in a plan), or writes it to \`secret_output\` and stores a fingerprint. The API cannot change a subscription. For
a different URL or set of events, hostform first creates a new subscription with a new secret, and then deletes the old
subscription, so no event is lost. An import cannot recover the secret.`,
  hcl: `Delivers events of the account to a URL, signed with the subscription's own secret (\`X-Service-Signature\`).

The API returns the signing secret once, when the subscription is created. It is stored in the state as a sensitive value, or
written to \`secret_output\`; the state then has a fingerprint. An import cannot recover the secret.

The API cannot change a subscription. A different URL or set of events creates a new subscription with a new secret. By default,
Terraform deletes the old subscription first. With \`lifecycle { create_before_destroy = true }\`, no event is lost.`,
  example: `webhooks:
  billing:
    url: https://hooks.acme.example/hosting
    events: [invoice.created, invoice.paid]`,
  attributes,
  schemaVersion: 0,
  creation: "listable",
  replacement: "create-first",
  removal: "delete",
  listAbility: "technical",
  async *list(context) {
    const { client, ...options } = context;
    for await (const record of client.webhooks.list(options))
      yield remote(record, lifeOf(record, context, LIVES.webhooks));
  },
  identity: ["url", "events"],
  // A URL may have several webhooks. They are the same only if URL and events are equal.
  naturalKey: ({ url, events }) =>
    typeof url === "string" && Array.isArray(events) && !hasUnknown(events)
      ? [normalUrl(url), ...[...events].sort()].join(" ")
      : undefined,
  create: ({ url, events }) => ({
    endpoint: "createWebhook",
    body: { url: typeof url === "string" ? sentUrl(url) : null, events: events ?? null },
  }),
  created(answer) {
    const lost =
      answer !== null && answer.secret !== null ? undefined : problem("secret.lost/webhook", { names: answer?.names });
    return {
      id: answer?.id ?? null,
      attributes: {
        ...(answer?.id != null && remote({ ...answer, id: answer.id }).attributes),
        secret: answer?.secret ?? null,
      },
      invoice: null,
      ...(answer?.url == null && { unclear: true as const }),
      ...(lost && { warning: lost }),
    };
  },
  remove: ({ id }) => ({ endpoint: "deleteWebhook", params: { id: String(id) } }),
};
