// The same plan, with nothing to do, by Terraform alone, Terraform with the provider, the command line, and from a stack.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { cleanEnvironment, cliConfiguration } from "../../../test/support/terraform-environment.ts";
import { VERSION } from "../../../test/support/terraform-provider.ts";
import { type Account, countedState, openAccount, type StateDocument, sameServices, stateFile } from "../account.ts";
import { cpuFigure, type Ended, inTurns, memoryFigure, runTimed } from "../process.ts";
import type { Bench, Figure, Row } from "../row.ts";
import { stackOf } from "../stack.ts";

const PLAN = ["plan", "-detailed-exitcode", "-input=false", "-no-color"];

/** A folder for Terraform, with what it starts from. */
async function terraformFolder(account: Account, name: string, configuration: string, state: object): Promise<string> {
  const folder = path.join(account.folder, name);
  await mkdir(folder);
  await writeFile(path.join(folder, "main.tf"), configuration);
  await writeFile(path.join(folder, "terraform.tfstate"), JSON.stringify(state));
  return folder;
}

/** The builtin resource that only keeps a value: what Terraform itself needs. */
function dataState(state: StateDocument): object {
  const instances = state.resources.map((_, at) => ({
    index_key: at,
    schema_version: 0,
    attributes: {
      id: `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`,
      input: { value: `client-${at}.bench.example`, type: "string" },
      output: { value: `client-${at}.bench.example`, type: "string" },
      triggers_replace: null,
    },
    sensitive_attributes: [],
  }));
  const provider = 'provider["terraform.io/builtin/terraform"]';
  return { ...state, resources: [{ mode: "managed", type: "terraform_data", name: "client", provider, instances }] };
}

const dataConfiguration = (count: number) => `resource "terraform_data" "client" {
  count = ${count}
  input = "client-\${count.index}.bench.example"
}
`;

/** The domains are counted, as the sandbox does it: a list of them would be evaluated whole for each resource. */
const providerConfiguration = ({ services }: Account) => `terraform {
  required_providers {
    hosting = {
      source  = "hostform/hosting"
      version = "${VERSION}"
    }
  }
}

provider "hosting" {
  project             = "bench"
  requests_per_minute = 6000
}

resource "hosting_service" "client" {
  count    = ${services.length}
  plan_id  = 11
  currency = "USD"
  domain   = format("site-%05d.example", count.index + 1)
}
`;

async function stackFolder(account: Account, state: StateDocument): Promise<string> {
  const folder = path.join(account.folder, "stack");
  await mkdir(folder);
  await writeFile(path.join(folder, "cdk.tf.json"), JSON.stringify(stackOf(sameServices(account))));
  await writeFile(path.join(folder, "terraform.bench.tfstate"), JSON.stringify(state));
  return folder;
}

async function sideBySide(bench: Bench, services: number, runs: number): Promise<Figure[]> {
  const account = await openAccount(bench, { services });
  try {
    const state = JSON.parse(await readFile(stateFile(account.folder), "utf8")) as StateDocument;
    const data = await terraformFolder(account, "data", dataConfiguration(services), dataState(state));
    const ours = await terraformFolder(account, "ours", providerConfiguration(account), countedState(state, "client"));
    const stack = await stackFolder(account, state);
    const settings = path.join(bench.folder, "terraform.rc");
    await writeFile(settings, cliConfiguration(await bench.provider(), "override"));
    const env = { ...cleanEnvironment(), ...account.env, TF_CLI_CONFIG_FILE: settings, CHECKPOINT_DISABLE: "1" };
    const requests = new Map<string, number>();
    const counting = (name: string, work: () => Promise<Ended>) => async () => {
      account.host.entries = [];
      const end = await work();
      requests.set(name, account.host.entries.length);
      return end;
    };
    const ends = await inTurns(runs, {
      data: () => runTimed(bench, "terraform", PLAN, { cwd: data, env }),
      ours: counting("ours", () => runTimed(bench, "terraform", PLAN, { cwd: ours, env })),
      yaml: counting("yaml", () => account.hostform(["plan", "--detailed-exitcode"])),
      stack: counting("stack", () => account.hostform(["plan", "--detailed-exitcode", "--stack", stack])),
    });
    const noteOf = (name: "ours" | "yaml" | "stack") =>
      `${requests.get(name)} requests${name === "ours" ? `; ${(ends.ours.nodeMs / 1000).toFixed(2)} s are the provider's` : ""}`;
    const of = (name: "ours" | "yaml" | "stack", title: string): Figure[] => [
      { ...cpuFigure(ends[name], ends.data, "`terraform_data`", title), note: noteOf(name) },
      memoryFigure(ends[name], `${title}: memory of Node`),
    ];
    return [
      { what: "`terraform plan`, `terraform_data`", value: ends.data.cpuMs / 1000, unit: "s" },
      ...of("ours", "`terraform plan`, the provider"),
      ...of("yaml", "`hostform plan`"),
      ...of("stack", "`hostform plan --stack`"),
    ];
  } finally {
    await account.close();
  }
}

const row = (services: number, runs: number, goals: Row["goals"]): Row => ({
  name: `side-by-side-${services}`,
  about: `plan of ${services.toLocaleString("en-US")} resources, nothing to do: processor time of all processes`,
  needs: "terraform",
  ...(goals && { goals }),
  measure: (bench) => sideBySide(bench, services, runs),
});

export const sideBySideRows: readonly Row[] = [
  row(1_000, 3, { "`terraform plan`, the provider": { most: 2, unit: "×" } }),
  row(5_000, 1, undefined),
];
