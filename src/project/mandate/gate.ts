import { raise } from "../../core/messages/index.ts";
import type { ProjectSource } from "../source.ts";

/** Refuses a change of the account without a mandate if the runner trusts approvers. @throws HostformError `mandate.required`. */
export function requireMandate({ env }: Pick<ProjectSource, "env">, work: string): void {
  if (env.HOSTFORM_APPROVERS !== undefined) raise("mandate.required", { work });
}
