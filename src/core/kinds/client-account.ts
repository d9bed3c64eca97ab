import * as z from "zod";
import type { AccountRecord } from "../api/index.ts";
import { CURRENCIES, folded, isPart, type Json, sameFolded, similarName } from "../model/index.ts";
import { attribute, createdAtAttribute, deletionPolicy, idAttribute } from "./attribute.ts";
import { createdFrom, type Kind, presentIn, type Remote } from "./kind.ts";
import { ALIVE, LIVES, type Life, lifeOf } from "./life.ts";

/**
 * Accepts any value in the response, and later a shortened value. A reformatted name or number affects neither cost nor
 * access.
 */
const anyForm = (sent: Json, shown: Json, isAnswer: boolean) => isAnswer || isPart(sent, shown);

const text = (description: string, example: string) =>
  attribute(z.string().min(1).optional(), {
    description,
    change: "immutable",
    computed: true,
    same: sameFolded,
    ownForm: anyForm,
    example,
  });

const attributes = z.strictObject({
  id: idAttribute("client account"),
  name: attribute(z.string().min(1), {
    description: "Name of the client.",
    change: "immutable",
    same: sameFolded,
    ownForm: anyForm,
    example: "Acme",
  }),
  company_name: text("Registered name of the company.", "Acme LLC"),
  company_number: text("Registration number of the company.", "405123456"),
  vat_number: text("VAT number.", "GE405123456"),
  currency: attribute(z.enum(CURRENCIES).optional(), {
    description: "Billing currency of the client.",
    change: "immutable",
    decisive: true,
    same: sameFolded,
    computed: true,
    example: "GEL",
  }),
  deletion_policy: deletionPolicy(),
  created_at: createdAtAttribute(),
});

const remote = ({ raw: _raw, ...record }: AccountRecord, life: Life = ALIVE): Remote => ({
  id: record.id,
  ...life,
  attributes: { ...record },
});

/** Client accounts of an agency (Manage track, §4 accounts endpoints). */
export const clientAccount: Kind<"createAccount"> = {
  type: "hosting_client_account",
  section: "client_accounts",
  noun: "client account",
  changeAbility: "billing",
  words: { name: "name" },
  summary: "A client account of an agency (Manage track).",
  description: `A client account owned by the agency. Manage track only; creating one requires the Growth partner tier or above, and the
billing ability.

The API can neither change nor delete an account. A plan with a change fails, and removing the block follows
\`deletion_policy\`. If an account with the same name exists, hostform does not create a second one: adopt it with \`import\`.`,
  hcl: `A client account owned by the agency. Manage track only; creating one requires the Growth partner tier or above, and the
billing ability.

The API can neither change nor delete an account. A plan with a change fails, and a destroy follows \`deletion_policy\`. If an
account with the same name exists, the plan fails and shows an \`import\` block.`,
  example: `client_accounts:
  acme:
    name: Acme
    company_name: Acme LLC
    currency: GEL`,
  attributes,
  schemaVersion: 0,
  creation: "listable",
  removal: "policy",
  async *list(context) {
    const { client, ...options } = context;
    for await (const record of client.accounts.list(options))
      yield remote(record, lifeOf(record, context, LIVES.accounts));
  },
  identity: ["name"],
  naturalKey: ({ name }) => folded(name),
  sameIdentity: ({ company_number: mine }, { company_number: other }) =>
    mine == null || other == null || mine === other,
  mayMatch: ({ name }, { name: shown }) => similarName(name, shown),
  create: (planned) => ({
    endpoint: "createAccount",
    body: presentIn(planned, ["name", "company_name", "company_number", "vat_number", "currency"]),
  }),
  created: (answer) => createdFrom(answer, remote, "name"),
};
