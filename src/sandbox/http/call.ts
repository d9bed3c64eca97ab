/** One call of an endpoint: ability, Idempotency-Key, then the endpoint inside a transaction. */
import type { Context } from "hono";
import { settle } from "../lifecycle/billing.ts";
import { orderedBeside, type RequestEntry } from "../record/journal.ts";
import { Refusal } from "../refusal.ts";
import { shape, shapeRefusal, unshape } from "../shape/answer.ts";
import { readParams, readQuery } from "../shape/rendering.ts";
import type { Token } from "../store/records.ts";
import type { World } from "../world.ts";
import { customerOf, requireAbility } from "./access.ts";
import type { Call, Endpoint } from "./endpoint.ts";
import { keptAnswer, keyOf, reserve } from "./idempotency.ts";
import { objectOf, type RequestBody } from "./request-body.ts";
import type { Outgoing } from "./wire.ts";

/** An answer whose headers are those that every answer has. */
export type Bare = Omit<Outgoing, "headers"> & Partial<Pick<Outgoing, "headers">>;

export async function answerCall(
  world: World,
  c: Context,
  url: URL,
  endpoint: Endpoint,
  token: Token,
  body: RequestBody,
  entry: RequestEntry,
): Promise<Bare> {
  const { store, settings } = world;
  requireAbility(store, token, endpoint.ability);
  const customer = customerOf(store, token);
  const keep = (id: string, status: number, text: string) =>
    store.table("kept_answers").put({ id, status, body: text, kept_at: world.clock.instant() });
  const run = (key?: string): Bare =>
    store.transaction(() => {
      settle(world);
      const call: Call = {
        world,
        token,
        customer,
        params: readParams(c.req.param() as Record<string, string>),
        query: readQuery(c.req.queries(), settings.rendering.lists),
        body: endpoint.method === "POST" ? unshape(objectOf(body), settings.profile) : {},
      };
      const reply = endpoint.answer(call);
      if (reply.form === "ordered") entry.ordered = orderedBeside(store, reply.item);
      const { status, body: wire } = shape(reply, settings.profile, url, settings.rendering);
      const text = wire === undefined ? undefined : JSON.stringify(wire);
      if (key !== undefined && text !== undefined && reply.form === "ordered") {
        keep(key, status, text);
      }
      return { status, body: text };
    });
  if (!endpoint.keyed) return run();

  const key = keyOf(customer.id, c.req.header("idempotency-key"));
  const free = reserve(world.inFlight, key);
  try {
    const kept = keptAnswer(world, key);
    const isRefusal = kept !== undefined && kept.status >= 400;
    if (kept !== undefined)
      return { status: settings.profile.replay === "ok" && !isRefusal ? 200 : kept.status, body: kept.body };
    if (settings.processingMs > 0) await settings.sleep(settings.processingMs);
    return run(key);
  } catch (error) {
    if (error instanceof Refusal && error.status === 422 && settings.profile.refused_key === "kept") {
      const { status, body: text } = shapeRefusal(error, settings.profile, settings.rendering);
      if (text !== undefined) store.transaction(() => keep(key, status, text));
    }
    throw error;
  } finally {
    free();
  }
}
