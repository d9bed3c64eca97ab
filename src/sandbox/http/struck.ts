/** What faults and weather do to an answer; how they cut the connection stands in `wire.ts`. */
import type { Strike } from "../faults.ts";
import { shapeRefusal } from "../shape/answer.ts";
import type { World } from "../world.ts";
import type { Bare } from "./call.ts";
import type { Outgoing } from "./wire.ts";

/** The answer of a fault that strikes before anything happens, or undefined when it only delays. A cut needs none: `send` sees to it. */
export async function strikeBefore(world: World, fault: Strike): Promise<Bare | undefined> {
  if (fault.delayMs !== undefined) await world.settings.sleep(fault.delayMs);
  if (fault.drop) return { status: 0, body: undefined };
  const onlyDelay = fault.delayMs !== undefined && fault.status === undefined && fault.body === undefined;
  return onlyDelay ? undefined : replaced(world, fault, fault.status ?? 500);
}

/** The answer that a fault puts in place of the real one. */
function replaced(world: World, fault: Strike, status: number): Bare {
  if (typeof fault.body === "string") return { status, body: fault.body };
  if (status === 204 || status === 304) return { status, body: undefined };
  if (fault.body !== undefined || status < 400) {
    return { status, body: JSON.stringify(fault.body ?? { message: "Server Error" }) };
  }
  const message = status === 429 ? "Too Many Attempts." : "Server Error";
  return shapeRefusal({ status, body: { message }, headers: {} }, world.settings.profile, world.settings.rendering);
}

/** The answer after a fault that strikes when everything has been done. */
export async function strikeAfter(world: World, fault: Strike, answer: Outgoing): Promise<Outgoing> {
  if (fault.phase === "before") return answer;
  if (fault.delayMs !== undefined) await world.settings.sleep(fault.delayMs);
  if (fault.status === undefined && fault.body === undefined) return answer;
  const other = replaced(world, fault, fault.status ?? answer.status);
  const { "Content-Type": _type, ...kept } = answer.headers;
  return { ...other, headers: { ...kept, ...other.headers } };
}
