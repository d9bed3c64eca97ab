import type { SandboxOptions } from "./options.ts";
import { PROFILE_SWITCHES, keyRetentionSeconds, type Profile, type ProfileSwitch } from "./profile/profile.ts";
import type { Session } from "./record/session.ts";
import { restoreSnapshot, snapshotText, takeSnapshot } from "./record/snapshot.ts";
import { Refusal, SandboxOptionError } from "./refusal.ts";
import { plant, seedOf } from "./seed.ts";
import type { World } from "./world.ts";

/** What a sandbox begins with: the data of its file, of a snapshot, or of its seed. */

/**
 * Fills the store, unless a data file has done so, and begins the recording if there is to be one.
 * @throws SandboxOptionError for a snapshot that cannot be used, or not together with the other options.
 */
export function begin(world: World, options: Pick<SandboxOptions, "snapshot" | "seed" | "data">): void {
  const { store, recorder, clock } = world;
  if (recorder === undefined) {
    fill(world, options);
    return;
  }
  recorder.hold(() => {
    const planted = fill(world, options);
    recorder.start({
      sandbox: sandboxOf(world),
      started: clock.instant(),
      ...(!planted && { snapshot: store.transaction(() => recorder.masked(snapshotText(takeSnapshot(world)))) }),
    });
  });
}

/** Whether the data follows from the seed and the clock alone. */
function fill(world: World, options: Pick<SandboxOptions, "snapshot" | "seed" | "data">): boolean {
  const { store, settings } = world;
  const kept = seedOf(store) !== undefined;
  if (options.snapshot === undefined) {
    if (kept) store.onCommit();
    else store.transaction(() => plant(world));
    return !kept;
  }
  if (kept) {
    throw new SandboxOptionError("The data file holds data already. Leave the snapshot out, or name a new file.");
  }
  if (settings.frozenAt !== undefined) {
    throw new SandboxOptionError("A snapshot goes on at its own time. Leave the clock or the snapshot out.");
  }
  restore(world, options.snapshot);
  if (options.seed === undefined || options.seed === settings.seed) return false;
  throw new SandboxOptionError(
    `The snapshot was made from the seed "${settings.seed}", not "${options.seed}". Leave the seed out.`,
  );
}

function restore(world: World, text: string): void {
  try {
    restoreSnapshot(world, text);
  } catch (error) {
    throw error instanceof Refusal ? new SandboxOptionError(error.message, "snapshot") : error;
  }
}

/** How the sandbox was started, as far as its answers depend on it: what is not as it is by default. */
function sandboxOf({ settings }: World): Session["sandbox"] {
  const { seed, profile, rateLimit, jobSeconds, provisioningSeconds, noticeDays, autoPay } = settings;
  const { idempotencyRetentionSeconds } = settings;
  const switches = Object.entries(profile).filter(
    ([name, value]) => value !== PROFILE_SWITCHES[name as ProfileSwitch][0],
  );
  return {
    seed,
    profile: Object.fromEntries(switches) as Partial<Profile>,
    rateLimit,
    ...(idempotencyRetentionSeconds !== keyRetentionSeconds(profile) && { idempotencyRetentionSeconds }),
    jobSeconds,
    provisioningSeconds,
    noticeDays,
    autoPay,
  };
}
