/** The files that `hostform sandbox` starts from and leaves behind. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { errnoOf, fail } from "../../core/model/index.ts";
import { fileFailure } from "../file-failure.ts";
import { writeWhole } from "../whole-file.ts";

type Session = import("../../sandbox/index.ts").Session;

/** The text of a snapshot. */
export async function readSnapshotFile(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    fail("usage", `The snapshot cannot be read: ${fileFailure(error)}`, {
      detail: file,
      fix: "GET /snapshot of a sandbox's control port gives one.",
    });
  }
}

/** What this command writes begins with one of these; anything else may be somebody's work. */
const OWN = [/^\s*$/, /^\/\/ A session with the sandbox of hostform/, /^\s*\{\s*"format":\s*"hosting-sandbox-session"/];

/** Refuses a file that a session must not be written to, before there is one that could be lost. */
export async function checkRecordFile(file: string): Promise<void> {
  let there: string;
  try {
    there = await readFile(file, "utf8");
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") cannotWrite(file, error);
    await writeSession(file, "");
    return;
  }
  if (OWN.some((beginning) => beginning.test(there))) return;
  fail("usage", "There is another file where the session is to be written", {
    detail: file,
    fix: "Name a new file, or one that an earlier recording wrote.",
  });
}

/** Writes the session: a test for `.js`, `.mjs`, `.ts` and `.mts`, JSON otherwise. */
export async function writeRecord(file: string, session: Session): Promise<void> {
  const { sessionTest } = await import("../../sandbox/index.ts");
  const isCode = /^\.m?[jt]s$/.test(path.extname(file));
  await writeSession(file, isCode ? sessionTest(session) : `${JSON.stringify(session, null, 2)}\n`);
}

async function writeSession(file: string, text: string): Promise<void> {
  try {
    await writeWhole(file, text);
  } catch (error) {
    cannotWrite(file, error);
  }
}

function cannotWrite(file: string, error: unknown): never {
  fail("usage", `The session cannot be written: ${fileFailure(error)}`, { detail: file, fix: "Name another file." });
}
