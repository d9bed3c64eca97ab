/** Objects that an interrupted apply took from their old address, and that no other address has yet: the store alone knows them. */
import { kinds } from "../../../core/kinds/index.ts";
import { parentOf } from "../../../core/lifecycle/index.ts";
import type { Diagnostic } from "../../../core/model/index.ts";
import { leftOver } from "./holding-notices.ts";
import type { ProviderScope } from "./provider-scope.ts";

/** Names them once, but for those that this plan creates. Forgets those that have ended. Sends GETs. */
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
