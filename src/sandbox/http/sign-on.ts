import type { Context } from "hono";
import type { World } from "../world.ts";

/** The page that a one-time sign-on URL leads to: it works once. */
export function signOn(world: World, c: Context): Response {
  const value = c.req.param("value");
  return world.store.transaction(() => {
    const signOns = world.store.table("sign_ons");
    const found = signOns.find((one) => one.value === value);
    if (found === undefined) return c.text("There is no such sign-on.", 404);
    if (found.used_at !== null) return c.text("This sign-on has been used already.", 410);
    signOns.update(found.id, { used_at: world.clock.instant() });
    return c.text(`Signed in to the control panel of service ${found.service_id}.`);
  });
}
