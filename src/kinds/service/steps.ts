import type { Diagnostic, JsonObject } from "../../model/index.ts";
import type { Step } from "../kind.ts";
import { passwordForm } from "./words.ts";

/** Sets the password, or has it generated (§4 POST /services/{id}/password). */
export function passwordStep(prior: JsonObject, planned: JsonObject, config: JsonObject): Step<"resetPassword"> {
  const form = passwordForm(typeof prior.product_type === "string" ? prior.product_type : null);
  const given = form === "given" || (form === "unknown" && typeof config.password === "string");
  return {
    name: "setting the password",
    mutation: {
      endpoint: "resetPassword",
      params: { id: String(prior.id) },
      ...(given && { body: { password: config.password ?? null } }),
    },
    accept(answer) {
      const done = { password_version: planned.password_version ?? null };
      const earlier = { generated_password: null, generated_password_fingerprint: null };
      if (given) return { attributes: { ...done, ...earlier } };
      const warning: Diagnostic = {
        severity: "warning",
        code: "api.malformed",
        summary: "The API's answer holds no generated password",
        detail: "The password was reset, but the answer, the only way to learn it, did not contain it.",
        fix: "Apply again to have another one generated.",
      };
      // A password that was lost on its way is not one that was set: the next apply has another one generated.
      if (answer.password === null) return { attributes: earlier, warning };
      return { attributes: { ...done, ...earlier, generated_password: answer.password } };
    },
  };
}

/** Queues a suspension or its end (§3), which is done when the service shows it. */
export function suspension(prior: JsonObject, suspend: boolean): Step<"suspendService" | "unsuspendService"> {
  return {
    name: suspend ? "suspending" : "unsuspending",
    mutation: { endpoint: suspend ? "suspendService" : "unsuspendService", params: { id: String(prior.id) } },
    accept: () => ({ attributes: {} }),
    settled: ({ phase }) => phase === (suspend ? "suspended" : "live"),
  };
}
