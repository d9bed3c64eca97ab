/** Objects that an interrupted apply removed from their old address before another address contained them. Only the store knows them. */
import { importIdOf, type Kind, kinds } from "../../../core/kinds/index.ts";
import { parentOf } from "../../../core/lifecycle/index.ts";
import type { Diagnostic, JsonObject } from "../../../core/model/index.ts";
import { problem } from "../messages.ts";
import { named } from "./attribute-mapping.ts";
import type { ProviderScope } from "./provider-scope.ts";

/** Records an object that an interrupted apply removed from the state. */
export const leftOver = (kind: Kind, attributes: JsonObject): Diagnostic =>
  problem("apply.waiting/left_over", {
    what: named(kind, attributes),
    object: importIdOf(kind, String(attributes.id), attributes),
  });

/** Warns once about each left-over object, except objects that this plan creates. Removes ended objects from the store. Sends GETs. */
export async function leftOvers(scope: ProviderScope): Promise<readonly Diagnostic[]> {
  if (!scope.isFirst("left over")) return [];
  const { session, handovers } = scope;
  const { entries, place, self } = session;
  const found: Diagnostic[] = [];
  for (const kind of kinds.values()) {
    for (const [name, { attributes, handed, owner = "", ...entry }] of await entries.all(kind.type)) {
      const isUnderWay = owner === self.mark ? handovers.isHanded(kind, attributes) : self.isRunning(owner);
      if (!handed || entry.place !== place || isUnderWay || (await handovers.isMade(kind, attributes))) continue;
      const { id } = attributes;
      const object = await scope.account.find(kind, String(id), parentOf(kind, attributes));
      if (object === undefined || object.phase === "gone") await entries.remove(kind.type, name, id);
      else found.push(leftOver(kind, attributes));
    }
  }
  return found;
}
