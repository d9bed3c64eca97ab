/** `show`: a saved plan, or what is recorded, for reading. No request, no lock. */
import { HostformError, type ProviderConfig } from "../core/model/index.ts";
import type { Project } from "../project/project.ts";
import { readSavedPlan } from "../project/saved-plan.ts";
import { secretNames } from "../project/state.ts";
import { renderListing, renderRecordedHtml, renderRecordedMarkdown, stateJson } from "../report/index.ts";
import { formatOf, type PlanFormat, printPlan } from "./plan-reports.ts";
import { type Action, printJson } from "./terminal.ts";

interface ShowFlags {
  readonly format?: PlanFormat;
}

/** `hostform show [FILE]`: the plan as it was saved, in any format; without a file what is recorded, likewise. */
export const runShow: Action<ShowFlags, [file?: string]> = async (terminal, project, flags, file) => {
  const format = formatOf(terminal, flags);
  if (file !== undefined) {
    const { plan } = await readSavedPlan(project, file);
    const providers = await declaredProviders(project);
    printPlan(terminal, plan, (_, alias) => providers.get(alias)?.moneyScale, format);
    return 0;
  }
  const { serial, resources: byAddress, outputs = new Map() } = await project.state.read();
  const resources = [...byAddress.values()];
  if (format === "json") {
    printJson(terminal, stateJson(resources, outputs, secretNames));
    return 0;
  }
  if (format !== "text") {
    const { desired, partial } = await project.declaration.read();
    const providers = await declaredProviders(project);
    const recorded = { project: (desired ?? partial)?.project, serial, resources, outputs };
    const moneyScale = (_: string, alias: string) => providers.get(alias)?.moneyScale;
    const render = format === "html" ? renderRecordedHtml : renderRecordedMarkdown;
    terminal.out(render(recorded, { hidden: secretNames, moneyScale, remedies: terminal.outLook.remedies }));
    return 0;
  }
  const rows = resources.map(({ address, provider, attributes }) => ({
    address,
    id: attributes.id ?? null,
    provider,
  }));
  terminal.out(renderListing("state", rows, terminal.outLook));
  return 0;
};

/** The scale of amounts is declared. A plan can be shown without its declaration: amounts then name their unit. */
async function declaredProviders({ declaration }: Project): Promise<ReadonlyMap<string, ProviderConfig>> {
  try {
    return await declaration.providers();
  } catch (error) {
    if (!(error instanceof HostformError)) throw error;
    return new Map();
  }
}
