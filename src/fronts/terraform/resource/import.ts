import type { Kind } from "../../../core/kinds/kind.ts";
import { attributesOf, read } from "../../../core/lifecycle/index.ts";
import { fail, type JsonObject } from "../../../core/model/index.ts";
import { schemaOf } from "../schema/of-kind.ts";
import type { ProviderScope } from "./front.ts";

/**
 * Reads the object that is to be adopted. What the API never tells stays null, and the next plan records what is declared
 * of it without a request; what has a default gets it.
 * @throws HostformError `plan.gone` when the account does not have it, `usage` when the id cannot be one.
 */
export async function importResource(kind: Kind, id: string, scope: ProviderScope): Promise<JsonObject> {
  const parsed = kind.parseImportId?.(id);
  if (kind.parent !== undefined && parsed === undefined) {
    fail("usage", `A ${kind.noun} is imported by two ids: ${kind.parent}/ID`, {
      detail: `The id is ${JSON.stringify(id)}.`,
      remedies: [
        `For example \`terraform import ${kind.type}.NAME '1001/${kind.nested?.keyAttribute === "email" ? "dev@acme.example" : "7"}'\`.`,
      ],
    });
  }
  const alone = await scope.collections.isAlone(kind, parsed?.parent);
  const seen = await read(scope.account, { kind, prior: undefined, importId: id, config: undefined, alone });
  if (seen.status !== "present") {
    const how = seen.status === "gone" ? seen.how : "does not exist";
    fail("plan.gone", `${kind.noun} ${id} ${how}`, {
      detail: `The account of this provider configuration does not show it.${kind.parent === undefined ? ` A ${kind.noun} is imported by its id, nothing else.` : ""}`,
      remedies: [
        `Correct the id: \`data "${kind.type}s"\` shows those that there are. Or use the provider configuration (token) of the account that has it.`,
      ],
    });
  }
  scope.importing(kind, seen.attributes.id);
  const defaults = attributesOf(kind).flatMap(([name, , meta]) =>
    meta.default !== undefined && seen.attributes[name] == null ? [[name, meta.default] as const] : [],
  );
  return {
    ...Object.fromEntries(Object.keys(schemaOf(kind).attributes).map((name) => [name, null])),
    ...seen.attributes,
    ...Object.fromEntries(defaults),
  };
}
