/** Creates of objects that another address of the state releases: the create adopts the object, or recreates it at once. */
import { type Kind, matches } from "../../../core/kinds/kind.ts";
import { parentOf, refreshed } from "../../../core/lifecycle/index.ts";
import type { Diagnostic, JsonObject, PrivateMark, ValueObject } from "../../../core/model/index.ts";
import type { Entry } from "../entries.ts";
import { problem } from "../messages.ts";
import { named } from "./attribute-mapping.ts";
import { mayPassOn, suits } from "./handover.ts";
import type { Owner, ProviderScope } from "./provider-scope.ts";
import { deleteObject } from "./remove.ts";

interface TakenOver {
  /** Adopted object. Absent: it was deleted, and the create continues. */
  readonly adopted?: { readonly attributes: JsonObject; readonly private: PrivateMark };
  readonly diagnostics: readonly Diagnostic[];
}

interface Create {
  readonly name: string | undefined;
  readonly planned: ValueObject;
  /** Entry of the name. */
  readonly noted: Entry | undefined;
  readonly owner: Owner;
  readonly cancelled?: AbortSignal | undefined;
}

/** Adopts an object that another address of this state releases in this run. @returns undefined if no address releases it. */
export async function takeOver(kind: Kind, create: Create, scope: ProviderScope): Promise<TakenOver | undefined> {
  const { name, planned, noted, owner, cancelled } = create;
  if (!mayPassOn(kind) || name === undefined || (noted !== undefined && !noted.handed)) return undefined;
  const { session, handovers } = scope;
  const object = noted ?? (await findPassed(kind, planned, scope));
  if (object === undefined) return undefined;
  const { id } = object.attributes;
  const found = await scope.account.find(kind, String(id), parentOf(kind, object.attributes));
  if (found === undefined || found.phase === "gone") {
    await session.entries.remove(kind.type, name, id);
    return undefined;
  }
  const attributes = refreshed(kind, object.attributes, found, object.private.shown);
  const what = named(kind, attributes);
  const adopt = async (): Promise<TakenOver> => {
    scope.disown(kind, attributes);
    if (!suits(kind, attributes, planned)) {
      await deleteObject(kind, attributes, object.private, scope, cancelled);
      return { diagnostics: [problem("apply.replayed/moved", { what, isKept: false })] };
    }
    const { handed: _, passes: __, ...kept } = object;
    await session.entries.put(kind.type, name, { ...kept, attributes, place: session.place, owner: session.self.mark });
    scope.add(owner, kind, attributes);
    return {
      adopted: { attributes, private: object.private },
      diagnostics: [problem("apply.replayed/moved", { what, isKept: true })],
    };
  };
  const taken = await (noted === undefined ? handovers.take(kind, object, adopt) : adopt());
  await handovers.settle(kind, attributes);
  return taken;
}

/** Returns the object that the plan transfers to this create, with its secret. */
async function findPassed(kind: Kind, planned: ValueObject, scope: ProviderScope): Promise<Entry | undefined> {
  const listed = await scope.account.list(kind, parentOf(kind, planned));
  for (const { id, attributes, phase } of listed.values()) {
    if (phase === "gone" || !matches(kind, planned, { ...attributes, id })) continue;
    const passed = await scope.handovers.passed(kind, { ...attributes, id });
    if (passed !== undefined) return passed;
  }
  return undefined;
}
