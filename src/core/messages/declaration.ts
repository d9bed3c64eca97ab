/** Messages about what is declared: values, moves, outputs, and secrets on their way in and out. */
import { type Diagnostic, type Json, some } from "../model/index.ts";
import { type Catalogue, either, error, type Words, warning } from "./message.ts";
import type { Resource } from "./objects.ts";

/** A one-time secret that cannot go where its object goes. */
export interface HeldSecret extends Resource, Words<"id" | "from" | "name" | "place"> {
  readonly other: string | undefined;
  /** The address has a record of its own. */
  readonly isOccupied: boolean;
}

/** A generated password that nobody knows. */
export interface LostPassword {
  /** The product may take a declared password. */
  readonly mayBeGiven: boolean;
}

const setPassword = ({ mayBeGiven }: LostPassword) =>
  [
    "Set a password on the server or in the host's dashboard.",
    ...(mayBeGiven ? ["Or declare password and another password_version, which sets it."] : []),
    "It is reset again only when password_version changes.",
  ].join(" ");

/** An outcome that waits, and the failure that it waits for. */
type Waiting = Words<"name"> & { readonly reason: Pick<Diagnostic, "summary" | "detail" | "remedies"> };

const because = ({ summary, detail }: Waiting["reason"]) => [`${summary}.`, detail].filter(Boolean).join(" ");

type Move = Words<"from" | "to">;

const ONE_OF_TWO = ["Remove one of the two."];

export const declaration = {
  "config.expression": error(({ name, message }: Words<"name" | "message">) => ({ summary: `${name}: ${message}` })),
  "config.missing_attribute": error(
    ({
      noun,
      name,
      description,
      example,
    }: Words<"noun" | "name" | "description"> & { readonly example?: Json | undefined }) => ({
      summary: `${noun} needs ${name}`,
      detail: description,
      remedies: [{ do: "set", attribute: name, ...(example !== undefined && { value: example, example: true }) }],
    }),
  ),
  "config.missing_attribute/domain": error(({ id, type }: Words<"id" | "type">) => ({
    summary: `plan_id ${id} is ${type} hosting, which needs a domain`,
    detail: "The API refuses the order of a hosting plan without one.",
    remedies: [{ do: "set", attribute: "domain", value: "www.example.com", example: true }],
  })),
  "config.missing_attribute/password": error(({ type }: Words<"type">) => ({
    summary: `password_version needs a password: a service of type ${type} does not generate one`,
    remedies: ["Declare password, or remove password_version."],
  })),
  "config.missing_attribute/password_version": error(() => ({
    summary: "password needs password_version",
    detail: "The password is never stored, so nothing else shows that it changed.",
    remedies: [{ do: "set", attribute: "password_version", value: 1 }, "Raise it each time the password is to be set."],
  })),
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
  "config.invalid_value/password": error(({ type }: Words<"type">) => ({
    summary: `A service of type ${type} takes no password: the server generates one`,
    detail: "It comes as generated_password when password_version changes. The declared one would not be used.",
    remedies: ["Remove password, and keep password_version."],
  })),
  "config.invalid_value/scale": error(() => ({
    summary: "The environment variable HOSTING_MONEY_SCALE is not a number of digits",
    remedies: ["Set it to 0 to 4, or unset it."],
  })),
  "api.money_scale": error(
    ({ scale, name, of, id, text }: Words<"name" | "of" | "text" | "id"> & { scale: number }) => ({
      summary: `money_scale: ${scale} contradicts the ${name} of ${of} ${id}: ${text} has a fraction`,
      detail:
        "With this scale, amounts are whole numbers of the smallest unit. A limit in another unit limits nothing.",
      remedies: [
        "If the API's amounts are in the currency itself, set money_scale: 0 and write max_spend in the currency.",
      ],
    }),
  ),
  "api.validation/field": error(
    ({
      field,
      path,
      refusal,
      endpoint,
      noun,
      created,
    }: Words<"field" | "path" | "refusal" | "endpoint" | "noun"> & { readonly created: string | undefined }) => ({
      summary: `The API refuses ${field}: ${refusal}`,
      detail: `${endpoint} answered 422.`,
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
    detail: "Approvers decide by this value, so reports must show it.",
    remedies: from.map((source) => {
      const [kind, variable] = source.split(/\.(.*)/s);
      if (kind === "env") return `If anyone may see ${variable}, add it to HOSTFORM_ENV_ALLOW.`;
      return kind === "var"
        ? `If anyone may see the variable ${variable}, declare it as not sensitive.`
        : "Write the value itself.";
    }),
  })),
  "config.secret/output": error(({ name, from }: Words<"name"> & { readonly from: readonly string[] }) => ({
    summary: `The output ${name} would show a secret`,
    detail: `Its value contains ${from.join(", ")}, and each apply prints the outputs.`,
    remedies: [{ do: "set", attribute: "sensitive", value: true }, "Or take the secret out."],
  })),
  "apply.skipped/output": warning(({ name, reason }: Waiting) => ({
    summary: `The output ${name} keeps its recorded value`,
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
      detail: `Nothing distinguishes the two, so neither is created.`,
      remedies: [place === undefined ? "Remove one of the two." : `Remove one of the two. The first is at ${place}.`],
    }),
  ),
  "config.duplicate/reference": error(({ address, other, reference }: Words<"address" | "other" | "reference">) => ({
    summary: `${address} and ${other} have the same order reference ${reference}`,
    detail: "The Idempotency-Key comes from the reference: two orders with the same one are one order.",
    remedies: ["Give each its own reference, or none."],
  })),
  "config.duplicate/place": error(({ address, other }: Words<"address" | "other">) => ({
    summary: `${address} and ${other} write their secrets to the same place`,
    detail: "One would overwrite the other, and the API shows each secret only once.",
    remedies: ["Name another file, or another variable of the same env_file."],
  })),
  "config.unsupported/order": warning(({ address, noun }: Resource) => ({
    summary: `${address} is removed before it is recreated, despite create_before_destroy`,
    detail: `After a lost answer, nothing would distinguish two such ${noun}s.`,
    remedies: ["Remove create_before_destroy."],
  })),
  "config.reference/removed": error(({ address }: Words<"address">) => ({
    summary: `${address} is declared, and also listed as removed`,
    remedies: ONE_OF_TWO,
  })),
  "config.reference/types": error(({ from, to }: Move) => ({
    summary: `${from} cannot move to ${to}: the types differ`,
    remedies: ["Correct one of the two."],
  })),
  "config.reference/declared": error(({ from, to }: Move) => ({
    summary: `${from} has moved to ${to}, but is still declared`,
    remedies: ONE_OF_TWO,
  })),
  "config.reference/forked": error(({ from }: Move) => ({
    summary: `${from} has moved to two places`,
    remedies: ONE_OF_TWO,
  })),
  "config.reference/joined": error(({ to }: Move) => ({
    summary: `Two resources have moved to ${to}`,
    remedies: ONE_OF_TWO,
  })),
  "config.reference/occupied": error(({ from, to }: Move) => ({
    summary: `${from} cannot move to ${to}: something is recorded there already`,
    detail: `${from} is no longer declared: if it does not move, its deletion_policy decides.`,
    remedies: [{ do: "see", what: "recorded" }],
  })),
  "config.circle/moves": error(({ from, to }: Move) => ({
    summary: `The moves form a circle: ${from} to ${to}, and in the end back to ${from}`,
    remedies: [
      "Remove them: records follow the domain, e-mail address or URL that each address declares.",
      { do: "see", what: "swap" },
    ],
  })),
  "plan.catalogue": either(({ id, count, isComplete }: Record<"id" | "count", number> & { isComplete: boolean }) => ({
    summary: `plan_id ${id} is not among the ${count} plans that this account can order`,
    detail: isComplete
      ? "The list was read to its end, and only a plan that is in it can be ordered."
      : "The list has plans without a number; the API refuses the order if the plan is not active.",
    remedies: [{ do: "see", what: "plans" }],
  })),
  "plan.mismatch/plan": error(
    ({ id, declared, name, namesakes }: Words<"declared" | "name" | "namesakes"> & { id: number }) => ({
      summary: `plan_id ${id} is ${declared}, and this service is ${name}`,
      remedies: [`Declare the plan that it has: plan_id ${namesakes}.`],
    }),
  ),
  "plan.address": error(({ target, near }: Words<"target"> & { readonly near: string | undefined }) => ({
    summary: `No resource ${target} is declared or recorded`,
    detail: near && `Did you mean "${near}"?`,
    remedies: [{ do: "see", what: "addresses" }],
  })),
  "plan.address/pattern": error(({ target, near }: Words<"target"> & { readonly near: string | undefined }) => ({
    summary: `No resource is like ${target}`,
    detail: near && `Did you mean "${near}"?`,
    remedies: [{ do: "see", what: "addresses" }],
  })),
  "plan.address/client": error(
    ({ target, near, clients }: Words<"target"> & { near: string | undefined; clients: readonly string[] }) => ({
      summary: `No resource is of ${target}`,
      detail:
        near !== undefined
          ? `Did you mean "${near}"?`
          : clients.length === 0
            ? "No resource has a client."
            : `The clients are: ${some(clients)}.`,
      remedies: [{ do: "see", what: "addresses" }],
    }),
  ),
  "terraform.project": error(({ noun }: Words<"noun">) => ({
    summary: `The provider needs project to order a ${noun}`,
    detail: "The Idempotency-Key of an order comes from it: two configurations must not share one by accident.",
    remedies: [{ do: "name_project" }],
  })),
  "terraform.reference": error(({ noun }: Words<"noun">) => ({
    summary: `A ${noun} without a domain needs reference`,
    detail: "Without a domain the order has no name, and an order without a name could be placed twice.",
    remedies: ["Add reference: a name that is unique in the project and never changes."],
  })),
  "secret.output": error((given: Words<"address" | "what" | "place" | "reason" | "remedy">) => ({
    summary: `The ${given.what} of ${given.address} cannot be written to ${given.place}`,
    detail: given.reason,
    remedies: [given.remedy],
  })),
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
          ? `${place} already holds a secret, and the state does not know the ${name} of ${address}`
          : `${place} holds another secret than the recorded ${name} of ${address}`,
      detail: `${recorded === undefined ? "" : `Recorded: ${recorded}. `}There: ${other}. It may exist nowhere else, so it is not overwritten.`,
      remedies: ["Move that secret away, or name another place for the new one."],
    }),
  ),
  "secret.output/held": error(({ address, noun, id, from, name, place, other, isOccupied }: HeldSecret) => ({
    summary: `${noun} ${id} moves from ${from} to ${address}, but its ${name} was written to ${place}`,
    detail: `${address} declares ${other ?? "no secret_output"}, and the ${name} is not in the state.`,
    remedies: [
      `Declare secret_output of ${address} as it was at ${from}: the place goes with the ${noun}.`,
      { do: "move", from, ...(isOccupied && { occupied: true }), when: `you have moved the ${name} yourself` },
    ],
  })),
  "secret.output/waiting": warning(({ address, name, reason }: Waiting & Words<"address">) => ({
    summary: `The state keeps the ${name} of ${address} until the next apply can write it`,
    detail: because(reason),
    remedies: [...(reason.remedies ?? []), { do: "apply_again" }],
  })),
  "secret.output/unknown": warning(({ address, noun, name, place }: Resource & Words<"name" | "place">) => ({
    summary: `The ${name} of ${address} is not known and could not be written to ${place}`,
    detail: `The API returns it only when the ${noun} is created. It never arrived here, or the state was lost.`,
    remedies: [{ do: "renew" }, `If ${place} holds the right one already, remove secret_output.`],
  })),
  "secret.output/moved": warning(
    ({ address, name, from, place }: Words<"address" | "name" | "place"> & { readonly from: string | undefined }) => ({
      summary: `The ${name} of ${address} is no longer known and cannot be moved to ${place}`,
      detail: `${from === undefined ? "It left the state earlier" : `It was written to ${from}`}. The new place is for the next secret.`,
      remedies: ["Move it by hand."],
    }),
  ),
  "secret.source/invalid": error(({ address, name, issue, place }: Words<"address" | "name" | "issue" | "place">) => ({
    summary: `The ${name} of ${address} is invalid: ${issue}`,
    detail: `It was read from ${place}.`,
    remedies: ["Store a valid value there and apply again."],
  })),
  "secret.lost/webhook": error(({ names }: { readonly names: string | undefined }) => ({
    summary: "The API's answer holds no signing secret",
    detail: `The webhook exists and is recorded, but no receiver can verify its events.${names === undefined ? "" : ` The names in the answer: ${names}.`}`,
    remedies: [{ do: "renew" }, "If the dashboard shows or rotates the secret, give that to the receiver instead."],
  })),
  "secret.lost/password": error((given: LostPassword & Words<"endpoint" | "names"> & { readonly isLast: boolean }) => ({
    summary: "The API's answer holds no generated password",
    detail: `${given.endpoint} has reset the password, and nobody knows the new one. The names in the answer: ${given.names}.`,
    remedies: [given.isLast ? setPassword(given) : "Apply again: that generates another one, once."],
  })),
  "secret.lost/unknown": warning(() => ({
    summary: "The generated password of this server is not known",
    detail: "It was reset, and the answer could not be read.",
    remedies: [
      `${setPassword({ mayBeGiven: false })} Remove password_version when you have set one: that sends no request.`,
    ],
  })),
} satisfies Catalogue;
