/** Checks and writes the files that a user names for output: plans, reports, mandates and receipts. */
import path from "node:path";
import {
  beside,
  createSynced,
  isInside,
  isMount,
  look,
  read,
  realPath,
  replaceFile,
  systemDisk,
} from "../core/files/index.ts";
import { attempt, fail, ifErrno } from "../core/model/index.ts";
import { beginsAsMandate } from "./mandate/document.ts";
import { raise } from "./messages.ts";
import type { ProjectSource } from "./source.ts";
import { writtenPlace } from "./trust.ts";

type Output = "plan" | "report" | "mandate" | "receipt";

/** First member of a saved plan. */
export const PLAN_FORM = "hostform plan";
const BEGINNING = new RegExp(`^\\s*\\{\\s*"form"\\s*:\\s*"${PLAN_FORM}"`);
const BEGINNING_BYTES = 256;

/**
 * Returns the location for an output, with links resolved. Links of an untrusted project must stay inside the project. A plan
 * and a mandate may only replace their like. A report and a receipt may replace any file except a saved plan. The file names
 * of state and declaration are rejected.
 * @returns an absolute path in a writable folder.
 * @throws HostformError `usage` for a forbidden location, `plan.saved` for an unwritable location, `trust.file`.
 */
export async function placeForOutput(source: ProjectSource, file: string, holds: Output): Promise<string> {
  const forbid = (detail: string) => raise("usage/place", { file, detail, holds });
  return orUnwritable(file, holds, async () => {
    const named = path.resolve(source.cwd, file);
    const target = writtenPlace(source, file);
    // An untrusted declaration may choose the path of the state, so do not follow its links.
    const state = source.untrusted === true ? source.state : realOf(source.state);
    const folder = realOf(source.dir);
    for (const place of [named, target]) {
      if ([source.state, state].some((of) => belongsToState(place, of)))
        forbid("hostform keeps the state, its backup, its journal or its lock there.");
      if ([source.dir, folder].some((dir) => isInside(dir, place)) && /\.ya?ml$/i.test(place))
        forbid("A file of that name may be read as a part of the declaration.");
      if (source.stack !== undefined && path.dirname(place) === folder && /\.(?:tf|tfvars)(?:\.json)?$/i.test(place))
        forbid("Terraform would read a file of that name as part of the stack.");
      if (source.files.includes(place)) forbid("It is a file of the declaration.");
    }
    const form = look(target)?.form;
    if (form === "folder") forbid("It is a folder.");
    const beginning = form === "file" ? (await read(target, { limit: BEGINNING_BYTES })).toString() : "";
    const isPlan = beginsAsPlan(beginning);
    const isOwn = { plan: isPlan, mandate: beginsAsMandate(beginning), report: true, receipt: true }[holds];
    if (form !== undefined && !isOwn)
      forbid(`The file there is not a ${holds} that hostform saved, and would be overwritten.`);
    if (isPlan && holds !== "plan") forbid("The file there is a plan that hostform saved.");
    if (form !== undefined && form !== "file") forbid("It is no file.");
    const temporary = beside(target);
    await createSynced(systemDisk, temporary, "");
    await systemDisk.remove(temporary);
    if (await isMount(systemDisk, { path: target, temporary }))
      forbid("The file there is a mount of its own, and no other file can replace it. Mount its folder instead.");
    return target;
  });
}

/** Returns true if a text begins as a saved plan. The rest may be damaged. */
export const beginsAsPlan = (text: string) => BEGINNING.test(text);

const orUnwritable = <T>(file: string, holds: Output, step: () => Promise<T>): Promise<T> =>
  step().catch(
    ifErrno((reason) =>
      fail("plan.saved", `The ${holds} cannot be written to ${file}: ${reason}`, {
        remedies: ["Check that the folder exists and that you may write there. Nothing was changed."],
      }),
    ),
  );

const realOf = (file: string): string =>
  attempt(
    () => realPath(file),
    () => file,
  );

/** Returns true if the file belongs to the state: `hosting.tfstate.backup`, `.hosting.tfstate.lock`. */
function belongsToState(place: string, state: string): boolean {
  if (path.dirname(place) !== path.dirname(state)) return false;
  // Some file systems ignore case.
  const name = path.basename(place).toLowerCase();
  const own = path.basename(state).toLowerCase();
  return name === own || name.startsWith(`${own}.`) || name.startsWith(`.${own}.`);
}

/** Writes a file atomically, after a new check of its location. Only the owner can read it. @throws HostformError as `placeForOutput` does. */
export async function writeOutput(source: ProjectSource, file: string, holds: Output, text: string): Promise<void> {
  const target = await placeForOutput(source, file, holds);
  await orUnwritable(file, holds, () => replaceFile(systemDisk, { path: target, temporary: beside(target) }, text));
}
