import { hasReferences, parseReferences } from "../../core/expression/references.ts";
import type { Kind } from "../../core/kinds/kind.ts";
import type { DesiredResource } from "../../core/model/index.ts";
import type { TfBlock, TfValue } from "../../report/index.ts";
import type { ResourceContext } from "./context.ts";
import { addressCode } from "./value.ts";

/** `import { to = …, id = … }` for each instance that names an existing object. Terraform passes over what its state has. */
export function importBlocks(
  kind: Kind,
  instances: readonly DesiredResource[],
  context: Pick<ResourceContext, "declared" | "state">,
): TfBlock[] {
  return instances.flatMap((resource) => {
    const { address, importId } = resource;
    if (importId === undefined) return [];
    const to = { name: "to", value: { refer: addressCode(address) } };
    return [
      { block: "import", labels: [], body: [[to, { name: "id", value: idOf(kind, importId, resource, context) }]] },
    ];
  });
}

/** The id as Terraform needs it: that of a grant names its service too, which in YAML the block around it does. */
function idOf(
  kind: Kind,
  importId: string,
  { config }: DesiredResource,
  { declared, state }: Pick<ResourceContext, "declared" | "state">,
): TfValue {
  const parent = kind.parent === undefined ? undefined : config[kind.parent];
  if (parent === undefined || kind.parseImportId?.(importId) !== undefined) return importId;
  const text = String(parent);
  if (!hasReferences(text)) return `${text}/${importId}`;
  const [reference] = parseReferences(text);
  if (typeof reference !== "object" || reference.to !== "resource") return importId;
  const { address } = reference;
  // An id must be known when Terraform plans: the one that is known now is.
  const known = state.resources.get(address)?.attributes.id ?? declared.get(address)?.importId;
  if (typeof known === "string") return `${known}/${importId}`;
  return { template: [{ code: `${addressCode(address)}.id` }, `/${importId}`] };
}
