import { readFileSync } from "node:fs";

/**
 * A word that tells a process from every other of this machine: its number, and where the system says it, when it was
 * started, so that a number that was given out again is not taken for the old process.
 */
export function processMark(pid: number = process.pid): string {
  return `${pid}:${startOf(pid) ?? ""}`;
}

/** Whether the process with this mark is still running. One of another machine or container is not seen. */
export function isRunning(mark: string): boolean {
  const [pid = Number.NaN] = mark.split(":").map(Number);
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // It is there, and somebody else's.
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) return false;
  }
  return processMark(pid) === mark;
}

/**
 * The 22nd field of Linux's record of a process; its name, the second, may hold blanks and parentheses. A process that has
 * ended and that nobody has asked about (state Z) has a record, too.
 */
function startOf(pid: number): string | undefined {
  try {
    const record = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = record.slice(record.lastIndexOf(")") + 2).split(" ");
    return /^[ZX]/.test(fields[0] ?? "") ? "ended" : fields[19];
  } catch {
    return undefined;
  }
}
