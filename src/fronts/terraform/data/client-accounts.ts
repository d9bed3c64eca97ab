import type { Attributes } from "../../../core/model/schema.ts";
import { type CheckedDataSource, listOf, shaped, told } from "./define.ts";
import { allOf, kindOf } from "./lookup.ts";

const clientAccount: Attributes = {
  id: told("string", "Identifier of the client account."),
  name: told("string", "Name of the client."),
  company_name: told("string", "Registered name of the company."),
  company_number: told("string", "Registration number of the company."),
  vat_number: told("string", "VAT number."),
  currency: told("string", "Currency that the client is billed in."),
  created_at: told("string", "When it was created (ISO 8601)."),
};

export const hostingClientAccounts: CheckedDataSource = {
  name: "hosting_client_accounts",
  schema: {
    version: 0,
    description: "The client accounts of an agency (Manage track only), whether or not Terraform manages them.",
    attributes: { client_accounts: listOf(clientAccount, "client accounts") },
  },
  async read(_config, session) {
    const all = await allOf(kindOf("hosting_client_account"), session);
    return { client_accounts: all.map(({ attributes }) => shaped(clientAccount, attributes)) };
  },
};
