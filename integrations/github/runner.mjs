// Inputs, event and messages of a GitHub Actions runner.
import { readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";

const { env } = process;

export const input = (name) => env[`INPUT_${name}`] ?? "";

export const eventOf = () => JSON.parse(readFileSync(env.GITHUB_EVENT_PATH, "utf8"));

const say = (level, text) =>
  process.stdout.write(`::${level}::${text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A")}\n`);

export const notice = (text) => say("notice", text);

/** Ends the step with an annotation. */
export function fail(text) {
  say("error", text);
  process.exit(1);
}

/** Returns the folder of the artifact. Its name also identifies the comment. */
export function artifactFolder() {
  const name = input("NAME");
  if (!/^[\w-][\w.-]*$/.test(name)) fail(`The input name is ${JSON.stringify(name)}. Use letters, digits, ".", "_" and "-".`);
  return path.join(env.RUNNER_TEMP, "hostform", name);
}
