// `.ci/run` on a CI machine: installs the missing programs that tests need, from Debian's packages.
import { spawnSync } from "node:child_process";
import process from "node:process";
import { PROGRAMS } from "../test/support/programs.ts";
import { installationOf } from "./missing-programs.ts";

const hasApt = spawnSync("apt-get", ["--version"]).status === 0;
const installation = installationOf(PROGRAMS, { isRoot: process.getuid?.() === 0, hasApt });
if ("refusal" in installation) {
  console.error(installation.refusal);
  process.exit(1);
}
for (const [command, ...args] of installation.commands) {
  console.log(`${command} ${args.join(" ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  // The output is long, and matters only after a failure.
  const { status, stdout, stderr } = spawnSync(command, args, { env, encoding: "utf8", maxBuffer: 2 ** 26 });
  if (status === 0) continue;
  console.error(
    `${stdout}${stderr}\n\`${command} ${args.join(" ")}\` failed. The tests need these programs, see above.`,
  );
  process.exit(1);
}
