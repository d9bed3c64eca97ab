import type { Progress } from "../core/model/index.ts";

/** How Terraform words the progress of an action; those that Terraform does not know in the same manner. */
export interface Words {
  /** "Creating": the line when it starts. */
  readonly start: string;
  /** "creating": after "Still". */
  readonly still: string;
  /** "Creation": before "complete after" and "errored after". */
  readonly noun: string;
}

export const WORDS: Readonly<Record<Progress, Words>> = {
  create: { start: "Creating", still: "creating", noun: "Creation" },
  update: { start: "Modifying", still: "modifying", noun: "Modifications" },
  delete: { start: "Destroying", still: "destroying", noun: "Destruction" },
  forget: { start: "Removing from the state", still: "removing from the state", noun: "Removal from the state" },
  suspend: { start: "Suspending", still: "suspending", noun: "Suspension" },
  unsuspend: { start: "Unsuspending", still: "unsuspending", noun: "Unsuspension" },
  "suspend-and-forget": {
    start: "Suspending and removing from the state",
    still: "suspending and removing from the state",
    noun: "Suspension and removal from the state",
  },
  import: { start: "Importing", still: "importing", noun: "Import" },
};
