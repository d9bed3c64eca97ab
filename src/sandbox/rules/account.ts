/** The rules for client accounts (§4 POST /api/v1/accounts body). */
import { CURRENCIES, type Account } from "../store/records.ts";
import { type Body, Fields } from "./fields.ts";

/** "Required: name. Optional: company_name, company_number, vat_number, currency." */
export function readAccount(body: Body): Omit<Account, "id" | "customer_id" | "created_at"> {
  const fields = new Fields(body);
  return fields.complete({
    name: fields.string("name", { required: true }),
    company_name: fields.string("company_name") ?? null,
    company_number: fields.string("company_number") ?? null,
    vat_number: fields.string("vat_number") ?? null,
    currency: fields.oneOf("currency", CURRENCIES) ?? null,
  });
}
