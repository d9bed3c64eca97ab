/** Runs `adopt`: brings an existing account under management. */
import { adoptAccount } from "../project/adopt/adopt.ts";
import type { Adopted, AdoptFormat, AdoptOptions, Forecast } from "../project/adopt/types.ts";
import { escapeLine, firstOf, flowText, formatEstimate, plural } from "../report/index.ts";
import { approve, QUESTIONS } from "./apply.ts";
import { raise } from "./messages.ts";
import { type Action, printJson, say, type Terminal } from "./terminal.ts";

interface AdoptFlags extends AdoptOptions {
  readonly autoApprove?: boolean;
}

/** Nouns of the kinds, in the order of the report. */
const NOUNS = ["service", "grant", "webhook", "client account", "migration request"];

/** Next commands after an adoption, by language. */
const NEXT: Readonly<Partial<Record<AdoptFormat, string>>> = {
  hcl: "`hostform terraform install`, `terraform init`, `terraform plan`",
  cdktf: '`npm install cdktf constructs ./hostform-*.tgz`, `hostform plan --app "node main.ts"`',
  cdktn: '`npm install cdktn constructs ./hostform-*.tgz`, `hostform plan --app "node main.ts"`',
};

/** Maximum number of sentences in a list. */
const MOST = 20;

/**
 * Runs `hostform adopt`: prints the number of requests, asks for approval, reads the account, and writes declaration and
 * state.
 */
export const runAdopt: Action<AdoptFlags> = async (terminal, project, flags) => {
  const agreed = flags.autoApprove === true || flags.dryRun === true;
  if (terminal.json && !agreed) raise("usage/asks", { command: "adopt", flag: "--auto-approve" });
  const adopted = await adoptAccount(project, flags, async (forecast) => {
    say(terminal, forecastText(forecast));
    if (!agreed) await approve(terminal, QUESTIONS.adopt);
    return true;
  });
  if (terminal.json) printJson(terminal, "adopt", { dry_run: flags.dryRun === true, ...jsonOf(adopted) });
  else report(terminal, adopted, flags);
  return 0;
};

/** Returns a list such as `300 services, 12 webhooks`. */
function counted(objects: Readonly<Record<string, number>>): string {
  const parts = NOUNS.flatMap((noun) => (objects[noun] === undefined ? [] : [plural(objects[noun], noun)]));
  return parts.length === 0 ? "nothing" : parts.join(", ");
}

function forecastText({ objects, requests, open, seconds }: Forecast): string {
  const most = `${plural(open, "more request")} (at least ${plural(requests, "request")} in all)`;
  const rest = open === 0 ? "" : ` Reading the grants takes ${most}, ${formatEstimate(seconds)}.`;
  const account = Object.keys(objects).length === 0 ? "is empty" : `has ${counted(objects)}`;
  return `The account ${account}.${rest} hostform changes nothing in the account.`;
}

function report(terminal: Terminal, adopted: Adopted, { dryRun = false, format = "yaml" }: AdoptFlags): void {
  const { objects, files, left, unknown, requests, otherChanges, isFirst } = adopted;
  const next = isFirst ? NEXT[format] : undefined;
  const some = Object.keys(objects).length > 0;
  if (dryRun) for (const { file, text } of files) terminal.out(`# ${escapeLine(file)}\n${text}\n`);
  const what = some ? `${dryRun ? "Would adopt" : "Adopted"} ${counted(objects)}` : "Nothing new to adopt";
  const recorded = some && !dryRun ? " Only the state was written." : " No file was written.";
  const into = files.length === 0 ? recorded : ` ${dryRun ? "Files to write" : "Files"}: ${files.length}.`;
  terminal.out(`${what}. ${plural(requests, "request")}.${into}\n`);
  const written = files.map(({ file, isNew }) => `  ${isNew ? "new" : "added to"} ${escapeLine(file)}`);
  if (!dryRun && files.length > 0) terminal.out(`${firstOf(written, MOST).join("\n")}\n`);
  const changes = `${plural(otherChanges, "address", "addresses")} that you declared before would change`;
  const others = otherChanges === 0 ? "" : ` ${changes}: see \`hostform plan\`.`;
  if (some) terminal.out(`\nPlan: no changes, computed from the lists that were read.${others}\n`);
  list(terminal, "Not adopted:", left, left.length);
  if (some) list(terminal, "Values that the API does not return:", unknown, MOST);
  if (dryRun || (!some && files.length === 0)) return;
  const undo = isFirst
    ? "To undo it, delete these files and the state."
    : `To undo it, ${files.length > 0 ? "restore these files and " : ""}\`hostform state rm\` what was adopted.`;
  terminal.out(`\nThe account was not changed. ${undo}\n`);
  if (next !== undefined) say(terminal, `Next: ${next}.`);
}

function list(terminal: Terminal, title: string, sentences: readonly string[], most: number): void {
  if (sentences.length === 0) return;
  const lines = sentences.map((sentence) => `  ${escapeLine(sentence)}`);
  terminal.out(`\n${title}\n${flowText(firstOf(lines, most).join("\n"), terminal.outLook.width, 2)}\n`);
}

const jsonOf = ({ objects, files, left, unknown, requests, otherChanges }: Adopted) => ({
  objects,
  files: files.map(({ file, isNew }) => ({ file, new: isNew })),
  left,
  unknown,
  requests,
  plan: { changes: 0, other_changes: otherChanges },
});
