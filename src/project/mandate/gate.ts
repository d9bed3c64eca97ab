import { raise } from "../../core/messages/index.ts";
import { hasCode } from "../../core/model/index.ts";
import type { ProjectSource } from "../source.ts";

/** Refuses a change of the account without a mandate if the runner trusts approvers. @throws HostformError `mandate.required`. */
export function requireMandate({ env }: Pick<ProjectSource, "env">, work: string): void {
  if (env.HOSTFORM_APPROVERS !== undefined) raise("mandate.required", { work });
}

/** Names the account of the mandate in an error about another account. @throws HostformError `account.foreign`; other errors. */
export const ifForeign =
  (id: string) =>
  (error: unknown): never => {
    if (hasCode(error, "account.foreign")) raise("account.foreign/mandate", { id });
    throw error;
  };
