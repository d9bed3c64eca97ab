/** Messages about the identity of an account: the one that the state was recorded with, or another. */
import { some } from "../model/index.ts";
import { type Catalogue, error, type Words } from "./message.ts";

/** "Provider default", and the address that it leads to now. */
type Account = Words<"of" | "origin">;

const MOVED = { do: "allow", limits: [{ limit: "account_moved" }] } as const;
const CORRECT = "Correct the address and the token of the provider.";
const SANDBOX = "A sandbox that was started again without its data is a new account: begin with a new state.";

const isOnThisMachine = (origin: string) => /^https?:\/\/localhost/.test(origin);

export const accounts = {
  "account.foreign/address": error(({ of, origin, recorded }: Account & Words<"recorded">) => ({
    summary: `${of} leads to another address than the recorded one`,
    detail: `Recorded: ${recorded}. Now: ${origin}. The same id may be another object there.`,
    remedies: [CORRECT, { ...MOVED, when: "the same account has moved to this address" }],
  })),
  "account.foreign/objects": error(
    ({ of, origin, recorded, objects }: Account & Words<"recorded"> & { readonly objects: readonly string[] }) => ({
      summary: `${of} leads to another account than the recorded one`,
      detail:
        objects.length === 1
          ? `Recorded at ${recorded}: ${objects[0]}. Now at ${origin}: other objects, and not this one.`
          : `Recorded at ${recorded}: ${objects[0]} and ${objects.length - 1} more. Now at ${origin}: none of them.`,
      remedies: [
        CORRECT,
        ...(isOnThisMachine(origin) ? [SANDBOX] : []),
        { ...MOVED, when: "this is the same account, and all of them were deleted on purpose" },
      ],
    }),
  ),
  "guard.missing": error(({ missing, share }: { readonly missing: readonly string[]; readonly share: string }) => ({
    summary: `The account lacks ${share}. Is this the wrong account?`,
    detail: `Missing: ${some(missing)}.`,
    remedies: [CORRECT, { do: "allow", limits: [{ limit: "missing" }] }],
  })),
} satisfies Catalogue;
