/** The create of what another address of the state gives up: it adopts that object, or recreates it at once. */
import { type Kind, matches } from "../../../core/kinds/kind.ts";
import { formsOf, parentOf, refreshed, returnsSecretOnce } from "../../../core/lifecycle/index.ts";
import type { Diagnostic, JsonObject, PrivateMark, ValueObject } from "../../../core/model/index.ts";
import type { Entry } from "../entries.ts";
import { recordedAs } from "./attribute-mapping.ts";
import { mayPassOn, suits } from "./handover.ts";
import { adoptedHere, recreatedHere } from "./holding-notices.ts";
import type { Owner, ProviderScope } from "./provider-scope.ts";
import { deleteObject } from "./remove.ts";

interface TakenOver {
  /** The adopted object. Absent: it was deleted, and the create goes on. */
  readonly adopted?: { readonly attributes: JsonObject; readonly private: PrivateMark };
  readonly diagnostics: readonly Diagnostic[];
}

interface Create {
  readonly name: string | undefined;
  readonly planned: ValueObject;
  /** The entry of the name. */
  readonly noted: Entry | undefined;
  readonly owner: Owner;
  readonly cancelled?: AbortSignal | undefined;
}

/** Takes over what another address of this state gives up in this run. @returns undefined: no address does. */
export async function takeOver(kind: Kind, create: Create, scope: ProviderScope): Promise<TakenOver | undefined> {
  const { name, planned, noted, owner, cancelled } = create;
  if (!mayPassOn(kind) || name === undefined || (noted !== undefined && !noted.handed)) return undefined;
  const { entries, self } = scope.session;
  const object = noted ?? (await findPassed(kind, name, planned, scope));
  if (object === undefined) return undefined;
  const { id } = object.attributes;
  const found = await scope.account.find(kind, String(id), parentOf(kind, object.attributes));
  if (found === undefined || found.phase === "gone") {
    await entries.remove(kind.type, name, id);
    return undefined;
  }
  const attributes = refreshed(kind, object.attributes, found, formsOf(object.private, object.attributes));
  scope.disown(kind, attributes);
  // The account shows no secret: the instance that had it was not destroyed yet.
  const isWhole = object.handed === true || object.bare === true || !returnsSecretOnce(kind, attributes);
  if (isWhole && suits(kind, attributes, planned)) {
    const { handed: _, plan: __, bare: ___, ...kept } = object;
    await entries.put(kind.type, name, { ...kept, attributes, place: scope.session.place, owner: self.mark });
    scope.add(owner, kind, attributes);
    return { adopted: { attributes, private: object.private }, diagnostics: [adoptedHere(kind, attributes)] };
  }
  await deleteObject(kind, attributes, object.private, scope, cancelled);
  return { diagnostics: [recreatedHere(kind, attributes)] };
}

/** The object that the plan passes on to this create: with its secret if the destroy came before. */
async function findPassed(
  kind: Kind,
  name: string,
  planned: ValueObject,
  scope: ProviderScope,
): Promise<Entry | undefined> {
  const listed = await scope.account.list(kind, parentOf(kind, planned));
  const { handovers, session } = scope;
  for (const { id, attributes: live, phase } of listed.values()) {
    const attributes = { ...live, id };
    if (phase === "gone" || !matches(kind, planned, attributes)) continue;
    const passed = await handovers.passed(kind, attributes);
    if (passed === undefined) continue;
    const object: Entry = { ...recordedAs(kind, attributes, {}), ...(passed.bare && { bare: true }) };
    const isHanded = await handovers.take(kind, object, !passed.bare && returnsSecretOnce(kind, object.attributes));
    return isHanded ? await session.entries.get(kind.type, name) : object;
  }
  return undefined;
}
