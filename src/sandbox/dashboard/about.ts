import type { World } from "../world.ts";
import type { About } from "./page.ts";

/** What the pages tell about this sandbox. The address is known once it listens, so it is asked for each time. */
export function aboutOf(world: World): About {
  const { profile, rateLimit, autoPay } = world.settings;
  return {
    profile,
    rateLimit,
    autoPay,
    get apiUrl() {
      return world.url;
    },
    get seed() {
      return world.settings.seed;
    },
  };
}
