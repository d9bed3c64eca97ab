/** Tools of the MCP server. All but `apply` change neither the account nor the declaration. */
import path from "node:path";
import type { ToolAnnotations } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { exists } from "../../core/files/index.ts";
import { UNPAID } from "../../core/model/index.ts";
import type { LoadedProject } from "../../project/library.ts";
import { yamlRemedies } from "../../project/stack-diagnostics.ts";
import { diffsOf, EDITS } from "../edit.ts";
import { raise as raiseUsage } from "../messages.ts";
import { validationOf } from "../plan.ts";
import type { Call } from "./call.ts";
import { explain } from "./explain.ts";
import { raise } from "./messages.ts";

export interface Tool {
  readonly description: string;
  readonly inputSchema: z.ZodObject;
  readonly annotations: ToolAnnotations;
  run(input: never, call: Call): Promise<object>;
}

const tool = <Input extends z.ZodRawShape>(
  input: Input,
  description: string,
  annotations: ToolAnnotations,
  run: (input: z.infer<z.ZodObject<Input>>, call: Call) => Promise<object>,
): Tool => ({ description, inputSchema: z.strictObject(input), annotations, run });

const READS = { readOnlyHint: true };

const word = z.string().min(1).max(300);
const words = z.array(word).max(100).default([]);
const targets = words.describe(
  "Addresses (`hosting_service.www`), patterns (`hosting_service.*`) or clients (`client:acme`)",
);
const digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe("`digest` in a result of `plan`");

export const tools: Readonly<Record<string, Tool>> = {
  validate: tool(
    {},
    "Checks the declaration. Sends no request.",
    { ...READS, openWorldHint: false },
    async (_, { project }) => validationOf((await project.declaration.check()).diagnostics, yamlRemedies),
  ),
  plan: tool(
    { targets },
    "Compares the account with the declaration, and saves the plan. Returns its digest for `apply`, and its effects for a person. `targets`: only these.",
    { destructiveHint: false },
    async ({ targets }, { load, work, context: { plans } }) => {
      const plan = await (await load()).plan({ targets, ...work });
      const { applicable, hasChanges, diagnostics } = plan;
      const { effects, totals, billed_now } = plan.json.hostform;
      const facts = { applicable, effects, totals, billed_now, diagnostics, markdown: plan.markdown() };
      if (!applicable || !hasChanges) return { digest: null, ...facts };
      const { digest } = plan;
      const file = fileOf(plans, digest);
      await plan.save(file);
      return { digest, path: file, ...facts };
    },
  ),
  rehearse: tool(
    {
      plan: digest.optional(),
      months: z.int().min(1).max(36).default(12).describe("Number of months after the apply"),
      faults: z.boolean().default(false).describe("Also with lost responses and crashes"),
      unpaid: z.enum(UNPAID).default("none").describe("Invoices that nobody pays"),
    },
    "Applies a plan in a sandbox with a copy of the account, and lets `months` pass there: outages, cash, expiries. Without `plan`, plans first.",
    READS,
    async ({ plan: digest, ...options }, { load, work, context }) => {
      const project = await load();
      const plan = digest === undefined ? digest : await planOf(project, context.plans, digest);
      const { report, markdown } = await project.rehearse({ ...options, plan, ...work });
      return { ...report, markdown: markdown() };
    },
  ),
  status: tool(
    {
      targets,
      section: z
        .enum(["attention", "services", "objects", "money", "access", "drift", "changes"])
        .optional()
        .describe("Only this part"),
    },
    "Reads the account: offline sites, unpaid invoices, renewals, access, differences.",
    READS,
    async ({ targets, section }, { load, work }) => {
      const { report } = await (await load()).status({ targets, ...work });
      if (section === undefined) return report;
      const { project, timestamp, overview, holds } = report;
      return { project, timestamp, overview, holds, [section]: report[section] };
    },
  ),
  explain: tool(
    { about: word.describe("Code, address or name of a page") },
    "Explains an error code (`plan.exists`), an address (its place in the declaration, its condition, its planned change) or a page of the documentation (`orders`).",
    READS,
    ({ about }, call) => explain(about, call),
  ),
  edit: tool(
    {
      edit: z.enum(Object.keys(EDITS) as (keyof typeof EDITS)[]),
      words,
      unpaidOverDays: z.int().min(0).max(9_999).optional().describe("For suspend: services with older unpaid invoices"),
      paid: z.boolean().default(false).describe("For unsuspend: services without unpaid invoices"),
      template: word.optional().describe("Template of the declaration, for add"),
      client: word.optional().describe("Client of the new service, for add"),
    },
    "Returns the difference that an edit of the YAML would make. Writes nothing. `words`: suspend or unsuspend SERVICE…, remove or accept ADDRESS, rename ADDRESS NAME, handOver CLIENT, add DOMAIN with `template`, revoke EMAIL.",
    READS,
    async ({ edit, words, unpaidOverDays: days, ...others }, { project }) => {
      const flags = { ...others, unpaidOver: days && days * 86_400_000 };
      const run = EDITS[edit] as (...given: unknown[]) => ReturnType<(typeof EDITS)["remove"]>;
      const isList = edit.endsWith("suspend");
      if (!isList && words.length !== (edit === "rename" ? 2 : 1))
        raiseUsage("usage/argument", { command: "edit", name: "words" });
      const edited = await run(project, flags, ...(isList ? [words] : words));
      return { changes: diffsOf(project, edited), notes: edited.notes };
    },
  ),
  apply: tool(
    { plan: digest, mandate: z.string().max(65_536).optional().describe("Whole text of the file") },
    "Applies exactly a plan of the tool `plan`, which may cost money. Requires a mandate: the text of a file that a person signed.",
    { destructiveHint: true, idempotentHint: true },
    async ({ plan: digest, mandate: text }, call) => {
      const { load, work, context } = call;
      if (context.project.source.env.HOSTFORM_APPROVERS === undefined) raise("mcp.mandate/approvers", {});
      const project = await load();
      const plan = await planOf(project, context.plans, digest);
      if (text === undefined) raise("mcp.mandate", { file: fileOf(context.plans, digest) });
      if (context.isApplying) raise("mcp.busy", {});
      context.isApplying = true;
      const onEvent = () => {
        call.isKept = true;
        work.onProgress();
      };
      // Agents often drop the last newline of a text.
      const mandate = text.endsWith("\n") ? text : `${text}\n`;
      try {
        return await project.apply(plan, { mandate, ...work, onEvent });
      } finally {
        context.isApplying = false;
      }
    },
  ),
};

/** Reads a plan of the tool `plan`. @throws HostformError `mcp.plan` for a missing file, or a file with another digest. */
async function planOf(project: LoadedProject, plans: string, digest: string) {
  const file = fileOf(plans, digest);
  const plan = exists(file) ? await project.readPlan(file) : undefined;
  return plan?.digest === digest ? plan : raise("mcp.plan", { digest });
}

const fileOf = (plans: string, digest: string) => path.join(plans, `${digest}.plan`);
