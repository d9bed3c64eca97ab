/** Runs an app that synthesizes stacks. */
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { look, makeParent, systemDisk } from "../../core/files/index.ts";
import { childEnvironment, fail, ifErrno, isObject, type JsonObject, parsedJson } from "../../core/model/index.ts";
import { interruptible } from "../interrupt.ts";
import type { Host, Log, ProjectSource } from "../source.ts";

/** Number of output lines in the message about a failed app. */
const LAST_LINES = 20;
const MOST_KEPT = 16 * 1024;

/**
 * Runs an app in the project's folder, as the cdktf CLI does. Logs its output.
 * @returns the absolute path of the output folder.
 * @throws HostformError `stack.app` for a failed app or a missing manifest; `interrupted`.
 */
export async function synthesize(source: ProjectSource, host: Host, log: Log, app: string): Promise<string> {
  const settings = await settingsOf(source.dir);
  const output = path.resolve(source.dir, settings.output ?? "cdktf.out");
  const manifest = path.join(output, "manifest.json");
  const before = writtenAt(manifest);
  makeParent(output);
  let last = "";
  const failure = await interruptible(host, (signal) =>
    host.shell(app, {
      cwd: source.dir,
      env: {
        ...childEnvironment(source.env),
        CDKTF_OUTDIR: output,
        // Adds annotations of constructs and their locations to the manifest.
        CDKTF_CONTINUE_SYNTH_ON_ERROR_ANNOTATIONS: "true",
        ...(settings.context && { CDKTF_CONTEXT_JSON: JSON.stringify(settings.context) }),
      },
      signal,
      onOutput: (text) => {
        last = (last + text).slice(-MOST_KEPT);
        log.output(text);
      },
    }),
  );
  if (failure !== undefined) {
    // If the user already read the output, repeat only the error.
    const detail = log.showsOutput ? complaintIn(last) : endOf(last);
    fail("stack.app", `The app ${failure}: ${app}`, {
      ...(detail !== undefined && { detail }),
      remedies: ["Run the app alone, and fix what it reports. No request was sent."],
    });
  }
  if (writtenAt(manifest) === before) {
    const shown = path.relative(source.cwd, manifest);
    fail("stack.app", `The app succeeded, but did not write ${shown}: ${app}`, {
      detail: "It runs with CDKTF_OUTDIR; an `outdir` in the app overrides that.",
      remedies: [
        "End the app with `app.synth()`, and remove `outdir`. To use another folder, set `output` in cdktf.json.",
      ],
    });
  }
  return output;
}

function endOf(text: string): string {
  const lines = plain(text).trimEnd().split("\n");
  // Omit stack frames of libraries, so that the message is visible.
  const shown = lines.filter((line) => !(FRAME.test(line) && /[\\/]node_modules[\\/]|\(node:|at node:/.test(line)));
  const end = shown.slice(-LAST_LINES).join("\n");
  return end.trim() === "" ? "It wrote nothing." : `The end of its output:\n${end}`;
}

const FRAME = /^\s+at /;
/** Pattern of the first line of an uncaught error in Node.js. */
const THROWN = /^(?:Uncaught )?(?:[A-Z]\w*)?Error(?: \[\w+\])?: /;

/** Returns the error that ended the app. A failed validation has one line per construct. */
function complaintIn(text: string): string | undefined {
  const lines = plain(text).split("\n");
  const first = lines.findLastIndex((line) => THROWN.test(line));
  if (first < 0) return undefined;
  const rest = lines.slice(first);
  const end = rest.findIndex((line) => FRAME.test(line) || line.trim() === "");
  return rest.slice(0, Math.min(end < 0 ? rest.length : end, LAST_LINES)).join("\n");
}

const plain = (text: string) => stripVTControlCharacters(text).replaceAll("\r\n", "\n");

/** Returns the time of the last write. Undefined if the file does not exist. */
const writtenAt = (file: string) => look(file)?.changedAt;

/** Reads `cdktf.json`. @throws HostformError `stack.app` if it is unreadable. */
async function settingsOf(folder: string): Promise<{ output?: string; context?: JsonObject }> {
  const file = path.join(folder, "cdktf.json");
  const fix = "Fix it, or remove it: hostform reads only `output` and `context` from it.";
  const refuse = (why: string): never => fail("stack.app", `cdktf.json${why}`, { remedies: [fix] });
  const text = await systemDisk.read(file).catch(ifErrno((reason) => refuse(` cannot be read: ${reason}`)));
  if (text === undefined) return {};
  const json = parsedJson(text);
  if (json === undefined) return refuse(" cannot be read: it is not JSON");
  const { output, context } = isObject(json) ? json : {};
  if ((output !== undefined && typeof output !== "string") || (context !== undefined && !isObject(context))) {
    return refuse(": `output` must be a folder, and `context` a map");
  }
  return { ...(output && { output }), ...(context && { context: context as JsonObject }) };
}
