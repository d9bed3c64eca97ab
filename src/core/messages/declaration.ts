/** Messages about declared values, moves, outputs and secrets. */
import { type Diagnostic, type Json, some } from "../model/index.ts";
import { type Catalogue, either, error, type Words, warning } from "./message.ts";
import type { Resource } from "./objects.ts";

/** A one-time secret that prevents a move of its object. */
export interface HeldSecret extends Resource, Words<"id" | "from" | "name" | "place"> {
  readonly other: string | undefined;
  /** True if the new address already has a state entry. */
  readonly isOccupied: boolean;
}

/** A generated password that the state lacks. */
export interface LostPassword {
  /** True if the product may accept a declared password. */
  readonly mayBeGiven: boolean;
}

const setPassword = ({ mayBeGiven }: LostPassword) =>
  [
    "Set a password on the server or in the host's dashboard.",
    ...(mayBeGiven ? ["Or declare password and a new password_version; an apply then sets the password."] : []),
    "The password is reset again only when password_version changes.",
  ].join(" ");

/** A secret that could not be written, and the reason. */
type Waiting = Words<"name"> & { readonly reason: Pick<Diagnostic, "summary" | "detail" | "remedies"> };

const because = ({ summary, detail }: Waiting["reason"]) => [`${summary}.`, detail].filter(Boolean).join(" ");

type Move = Words<"from" | "to">;

/** Remedy for two `moved` entries that contradict each other. */
const ONE_ENTRY = ['Remove one of the two "moved" entries.'];

export const declaration = {
  "config.expression": error({ summary: "{name}: {message}" }),
  "config.missing_attribute": error(
    ({
      noun,
      name,
      description,
      example,
    }: Words<"noun" | "name" | "description"> & { readonly example?: Json | undefined }) => ({
      summary: `A ${noun} requires "${name}"`,
      detail: description,
      remedies: [{ do: "set", attribute: name, ...(example !== undefined && { value: example, example: true }) }],
    }),
  ),
  "config.missing_attribute/domain": error({
    summary: "plan_id {id} is {type} hosting, which requires a domain",
    detail: "The API rejects orders of this hosting plan without a domain.",
    remedies: [{ do: "set", attribute: "domain", value: "www.example.com", example: true }],
  }),
  "config.missing_attribute/password": error({
    summary: '"password_version" requires "password": a service of type {type} generates no password',
    remedies: ["Declare password, or remove password_version."],
  }),
  "config.missing_attribute/password_version": error({
    summary: '"password" requires "password_version"',
    detail: "The password is never stored, so only a new password_version shows that it changed.",
    remedies: [
      { do: "set", attribute: "password_version", value: 1 },
      "Increment it whenever you change the password.",
    ],
  }),
  "config.invalid_value": error(
    ({
      path,
      expected,
      value,
      literal,
    }: Words<"path" | "expected"> & Partial<Readonly<Record<"value" | "literal", string | undefined>>>) => ({
      summary: `${path}: ${expected}`,
      detail: value && `The value is ${value}.`,
      remedies: literal === undefined ? undefined : [`Write ${literal}, without quotes.`],
    }),
  ),
  "config.invalid_value/password": error({
    summary: '"password" is not supported for a service of type {type}: the server generates a password',
    detail: "The server sets generated_password when password_version changes. A declared password has no effect.",
    remedies: ["Remove password, and keep password_version."],
  }),
  "config.invalid_value/scale": error({
    summary: "The environment variable HOSTING_MONEY_SCALE is not a number of decimal places",
    remedies: ["Set it to an integer from 0 to 4, or unset it."],
  }),
  "api.money_scale": error({
    summary: "money_scale {scale} contradicts the {name} of {of} {id}: {text} is not a whole number",
    detail:
      "With this scale, amounts are whole numbers of the smallest unit. With a wrong scale, max_spend has no effect.",
    remedies: [
      "If {text} is an amount in whole units of the currency, such as dollars, set money_scale: 0. Then write max_spend in this unit.",
    ],
  }),
  "api.validation/field": error(
    ({
      field,
      path,
      refusal,
      endpoint,
      noun,
      created,
    }: Words<"field" | "path" | "refusal" | "endpoint" | "noun"> & { readonly created: string | undefined }) => ({
      summary: `The API rejects ${field}: ${refusal}`,
      detail: `${endpoint} returned 422.`,
      remedies: [
        `Correct ${path}.`,
        ...(created === undefined
          ? []
          : [{ do: "import", id: created, when: `an earlier run created this ${noun}` } as const]),
      ],
    }),
  ),
  "config.sensitive": error(({ address, name, from }: Words<"address" | "name"> & { from: readonly string[] }) => ({
    summary: `${name} of ${address} comes from a sensitive source: ${from.join(", ")}`,
    detail: "Approvers need this value to decide, so reports must show it.",
    remedies: from.map((source) => {
      const [kind, variable] = source.split(/\.(.*)/s);
      if (kind === "env") return `If ${variable} is not secret, add its name to HOSTFORM_ENV_ALLOW.`;
      return kind === "var"
        ? `If the variable ${variable} is not secret, declare it as not sensitive.`
        : "Write the value instead of the reference.";
    }),
  })),
  "config.secret/output": error(({ name, from }: Words<"name"> & { readonly from: readonly string[] }) => ({
    summary: `The output "${name}" would show a secret`,
    detail: `Its value contains ${from.join(", ")}, and each apply prints the outputs.`,
    remedies: [{ do: "set", attribute: "sensitive", value: true }, "Or remove the secret from the output."],
  })),
  "apply.skipped/output": warning(({ name, reason }: Waiting) => ({
    summary: `The output "${name}" was not updated: it keeps the value in the state`,
    detail: because(reason),
    remedies: [...(reason.remedies ?? []), { do: "apply_again" }],
  })),
  "config.duplicate/thing": error(
    ({
      address,
      other,
      noun,
      domain,
      place,
    }: Words<"other"> & Resource & Readonly<Record<"domain" | "place", string | undefined>>) => ({
      summary: `${address} declares the same ${noun}${domain === undefined ? "" : ` for the domain ${domain}`} as ${other}`,
      detail: "The two declared resources cannot be distinguished, so neither is created.",
      remedies: [`Remove one of the two ${noun}s.${place === undefined ? "" : ` The first is at ${place}.`}`],
    }),
  ),
  "config.duplicate/reference": error({
    summary: "{address} and {other} have the same order reference {reference}",
    detail: "The reference is part of the Idempotency-Key, so the API would treat both orders as one order.",
    remedies: ["Declare a different reference for each resource, or remove both references."],
  }),
  "config.duplicate/place": error({
    summary: "{address} and {other} write their secrets to the same place",
    detail: "The second secret would overwrite the first, and the API shows each secret only once.",
    remedies: ["Set another file in secret_output of {address}, or another variable of the same env_file."],
  }),
  "config.unsupported/order": warning(({ address, noun }: Resource) => ({
    summary: `${address} is removed before its replacement is created, despite create_before_destroy`,
    detail: `If the response to the create request were lost, the two ${noun}s could not be distinguished.`,
    remedies: ["Remove create_before_destroy."],
  })),
  "config.reference/removed": error({
    summary: '{address} is declared, and also listed in "removed"',
    remedies: ['Remove {address}, or its "removed" entry.'],
  }),
  "config.reference/types": error({
    summary: "{from} cannot move to {to}: the types differ",
    remedies: ['Correct one address of the "moved" entry.'],
  }),
  "config.reference/declared": error({
    summary: '"moved" renames {from} to {to}, but {from} is still declared',
    remedies: ['Remove the declared {from}, or the "moved" entry.'],
  }),
  "config.reference/forked": error(({ from }: Move) => ({
    summary: `Two "moved" entries have the same source: ${from}`,
    remedies: ONE_ENTRY,
  })),
  "config.reference/joined": error(({ to }: Move) => ({
    summary: `Two "moved" entries have the same target: ${to}`,
    remedies: ONE_ENTRY,
  })),
  "config.reference/occupied": error({
    summary: "{from} cannot move to {to}: the state already has an object there",
    detail: "{from} is no longer declared. Without the move, its deletion_policy applies.",
    remedies: [{ do: "see", what: "recorded" }],
  }),
  "config.circle/moves": error({
    summary: 'The "moved" entries form a cycle: {from} to {to}, and back to {from}',
    remedies: [
      'Remove these "moved" entries: each object is matched by its domain, e-mail address or URL.',
      { do: "see", what: "swap" },
    ],
  }),
  "plan.catalogue": either(({ id, count, isComplete }: Record<"id" | "count", number> & { isComplete: boolean }) => ({
    summary: `plan_id ${id} is not among the ${count} hosting plans that this account can order`,
    detail: isComplete
      ? "The list is complete, and an account can order only listed hosting plans."
      : "Some listed hosting plans have no number. The API rejects the order if this hosting plan is not active.",
    remedies: [{ do: "see", what: "plans" }],
  })),
  "plan.mismatch/plan": error({
    summary: "plan_id {id} is {declared}, but the service has the hosting plan {name}",
    remedies: ["Set plan_id to the hosting plan of the service: {namesakes}."],
  }),
  "plan.address": error(({ target, near }: Words<"target"> & { readonly near: string | undefined }) => ({
    summary: `No resource ${target} is declared or in the state`,
    detail: near && `Did you mean "${near}"?`,
    remedies: [{ do: "see", what: "addresses" }],
  })),
  "plan.address/client": error(
    ({ target, near, clients }: Words<"target"> & { near: string | undefined; clients: readonly string[] }) => ({
      summary: `No resource belongs to ${target}`,
      detail:
        near !== undefined
          ? `Did you mean "${near}"?`
          : clients.length === 0
            ? "No resource has a client."
            : `The clients are: ${some(clients)}.`,
      remedies: ["Correct the name of the client."],
    }),
  ),
  "terraform.project": error({
    summary: 'The provider requires "project" to order a {noun}',
    detail: "The project is part of the Idempotency-Key of an order. Two projects must not share a key.",
    remedies: [{ do: "name_project" }],
  }),
  "terraform.reference": error({
    summary: 'A {noun} without a domain requires "reference"',
    detail: "Without a domain or a reference, the order has no name and could be placed twice.",
    remedies: ["Set reference to a name that is unique in the project and never changes."],
  }),
  "secret.output/other": error(
    ({
      address,
      name,
      place,
      recorded,
      other,
    }: Words<"address" | "name" | "place" | "other"> & { readonly recorded?: string | undefined }) => ({
      summary:
        recorded === undefined
          ? `${place} already holds a secret, and the state has no ${name} of ${address}`
          : `The secret in ${place} differs from the ${name} of ${address} in the state`,
      detail: `${recorded === undefined ? "" : `In the state: ${recorded}. `}There: ${other}. It may be the only copy, so it is kept.`,
      remedies: [`Move the secret from ${place}, or set another place in secret_output of ${address}.`],
    }),
  ),
  "secret.output/held": error(({ address, noun, id, from, name, place, other, isOccupied }: HeldSecret) => ({
    summary: `${noun} ${id} moves from ${from} to ${address}, but its ${name} was written to ${place}`,
    detail: `${address} declares ${other ?? "no secret_output"}, and the ${name} is not in the state.`,
    remedies: [
      `Declare the secret_output of ${from} for ${address}: the secret stays in its place.`,
      { do: "move", from, ...(isOccupied && { occupied: true }), when: `you have moved the ${name} yourself` },
    ],
  })),
  "secret.output/waiting": warning(({ address, name, reason }: Waiting & Words<"address">) => ({
    summary: `The state keeps the ${name} of ${address} until the next apply can write it`,
    detail: because(reason),
    remedies: [...(reason.remedies ?? []), { do: "apply_again" }],
  })),
  "secret.output/unknown": warning(({ address, noun, name, place }: Resource & Words<"name" | "place">) => ({
    summary: `The ${name} of ${address} is unknown, so it was not written to ${place}`,
    detail: `The API returns the ${name} only when the ${noun} is created. The response or the state was lost.`,
    remedies: [{ do: "renew" }, `If ${place} already holds the right ${name}, remove secret_output.`],
  })),
  "secret.output/moved": warning(
    ({ address, name, from, place }: Words<"address" | "name" | "place"> & { readonly from: string | undefined }) => ({
      summary: `The ${name} of ${address} cannot be moved to ${place}: it is not in the state`,
      detail: `${from === undefined ? `The ${name} was removed from the state earlier` : `The ${name} was written to ${from}`}. The new place applies to the next secret.`,
      remedies: [`Move the ${name} to ${place} yourself.`],
    }),
  ),
  "secret.source/invalid": error({
    summary: "The {name} of {address} is invalid: {issue}",
    detail: "The {name} was read from {place}.",
    remedies: ["Store a valid value in {place} and apply again."],
  }),
  "secret.lost/webhook": error(({ names }: { readonly names: string | undefined }) => ({
    summary: "The API's response has no signing secret",
    detail: `The webhook exists and is in the state, but no receiver can verify its events.${names === undefined ? "" : ` The fields of the response: ${names}.`}`,
    remedies: [{ do: "renew" }, "If the dashboard shows or rotates the secret, give that secret to the receiver."],
  })),
  "secret.lost/password": error((given: LostPassword & Words<"endpoint" | "names"> & { readonly isLast: boolean }) => ({
    summary: "The API's response has no generated password",
    detail: `${given.endpoint} has reset the password, and the new password is unknown. The fields of the response: ${given.names}.`,
    remedies: [given.isLast ? setPassword(given) : "Apply again: the next apply generates a new password, once."],
  })),
  "secret.lost/unknown": warning(() => ({
    summary: "The generated password of this server is unknown",
    detail: "The password was reset, and the response could not be read.",
    remedies: [
      `${setPassword({ mayBeGiven: false })} After that, remove password_version: the removal sends no request.`,
    ],
  })),
} satisfies Catalogue;
