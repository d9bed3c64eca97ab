// `fleet.yaml`: the projects of a fleet, their order, and limits over all projects.
import path from "node:path";
import * as z from "zod";
import { read } from "../core/files/index.ts";
import { CURRENCIES, FAIL_ON, fileFailure, milliseconds, utf8 } from "../core/model/index.ts";
import { checkedYaml } from "../core/policy/index.ts";
import { channelList } from "../project/notify/index.ts";
import { problem, raise } from "./messages.ts";

/** Maximum size of the file, in bytes. */
const MOST_BYTES = 4 * 1024 * 1024;

const text = z.string("expected a text").trim().min(1, "expected a text");
const count = z.int("expected a whole number").nonnegative("at least 0");
/** Complete id of a commit. Unlike a branch or a tag, it always selects the same commit. */
const commit = text.regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/, "expected a complete commit id");
/**
 * URL of a repository. It is an argument of git, so it must be neither an option nor a transport that runs programs. Reports print
 * it, so it must not contain a password.
 */
const repository = text
  .regex(/^(?:https:\/\/|ssh:\/\/|file:\/\/|\/|[\w.-]+@[\w.-]+:)[^\s]+$/, "expected an https or ssh URL")
  .refine(
    (one) => !/^https:\/\/[^/]*@|^\w+:\/\/[^/@]*:[^/@]*@/.test(one),
    "expected a URL without credentials: git has its own",
  );
const branch = text.regex(/^(?![-/.])[\w./-]+$/, "expected a branch");

const project = z
  .strictObject({
    path: text
      .refine((one) => !path.isAbsolute(one) && !one.split(/[\\/]/).includes(".."), "expected a path inside the folder")
      .optional()
      .describe(
        "Folder of the project, relative to `fleet.yaml` or to the repository. `*` matches any part of a name.",
      ),
    git: repository.optional().describe("URL of the project's repository."),
    branch: branch.optional().describe("Branch of the repository. Default: main."),
    signers: text
      .optional()
      .describe("File of allowed signers (`ssh-keygen`). Only commits with their signatures are used."),
    environment: text.optional().describe("Environment of the project."),
    stack: text.optional().describe("Stack of the project instead of a declaration in YAML, such as cdktf.out."),
    secret_env: text
      .regex(/^[A-Za-z_]\w*$/, "expected the name of an environment variable")
      .optional()
      .describe("Environment variable with the signing secret of the project's webhooks, for `fleet run --listen`."),
  })
  .refine(({ path, git }) => path !== undefined || git !== undefined, "expected `path` or `git`")
  .refine(({ git, branch, signers }) => git !== undefined || (branch ?? signers) === undefined, {
    error: "`branch` and `signers` need `git`",
  });

const duration = z.string("expected a time with its unit, such as 10m or 1h").transform((one, context) => {
  const ms = milliseconds(one);
  if (ms !== undefined && ms >= 60_000) return ms;
  context.addIssue({ code: "custom", message: "expected a time of at least 1m, such as 10m or 1h" });
  return z.NEVER;
});

/** Form of `fleet.yaml`. The schema for editors is generated from it. */
export const fleetSchema = z.strictObject({
  fleet: text.regex(/^[\w.-]+$/, "expected letters, digits, `-`, `_` and `.`").describe("Name of the fleet."),
  projects: z.array(project, "expected a list of projects").min(1, "expected at least one project"),
  interval: duration.default(600_000).describe("Longest time between two checks of a project. Default: 10m."),
  parallelism: count
    .min(1, "at least 1")
    .max(50, "at most 50")
    .default(4)
    .describe("Number of projects at the same time. Default: 4."),
  waves: z
    .array(count.min(1, "at least 1"))
    .optional()
    .describe("Sizes of the first groups of an apply. After a group with a failure, the other groups do not start."),
  stop_on: z.array(z.enum(FAIL_ON)).default([]).describe("Conditions that count as a failure of a group."),
  guards: z
    .strictObject({
      max_orders: count.optional().describe("Maximum number of orders of all projects together."),
      max_spend: z
        .strictObject(Object.fromEntries(CURRENCIES.map((one) => [one, count.optional()])))
        .optional()
        .describe("Maximum amount of all orders together, by currency, in the API's unit."),
      max_removals: count.optional().describe("Maximum number of removed resources of all projects together."),
    })
    .default({}),
  notify: channelList.default([]).describe("Channels for the notifications of all projects."),
  templates: z
    .strictObject({ path: text, git: repository.optional(), commit: commit.optional() })
    .refine(({ git, commit }) => (git === undefined) === (commit === undefined), "`git` and `commit` belong together")
    .optional()
    .describe("File with `templates` and `defaults` for all projects, in a folder or in a repository at a commit."),
});

export interface Fleet extends z.infer<typeof fleetSchema> {
  /** Absolute path of the file. */
  readonly file: string;
}

export type FleetEntry = Fleet["projects"][number];

/**
 * Reads the file of a fleet.
 * @param shown path for messages.
 * @throws HostformError `fleet.invalid` with the location of each mistake.
 */
export async function readFleet(file: string, shown: string): Promise<Fleet> {
  const bytes = await read(file, { limit: MOST_BYTES }).catch((error: unknown) =>
    raise("fleet.invalid", { file: shown, why: fileFailure(error) }),
  );
  return { ...checkedYaml(fleetSchema, shown, utf8(bytes), (given) => problem("fleet.invalid", given)).data, file };
}
