import {
  type Access,
  type AccountReport,
  type DoctorReport,
  isError,
  type RemedyText,
  type StateReport,
} from "../core/model/index.ts";
import { type DiagnosticJson, diagnosticJson, renderDiagnostics } from "./diagnostics.ts";
import { escapeLine } from "./escape.ts";
import { formatDuration, plural } from "./numbers.ts";
import { type MessageStyle, type Paint, pad, paint as painter, wrap } from "./text-style.ts";

/** Left margin, with room for a label. */
const MARGIN = " ".repeat(16);
const MAX_PROSE = 120;

/** A label with its text. */
type Row = readonly [label: string, text: string];

type InTexts<Part> = Omit<Part, "problems"> & { readonly problems: readonly DiagnosticJson[] };
export type DoctorJson = ReturnType<typeof doctorJson>;

/** Describes the report in JSON, with the texts of its fixes. */
export function doctorJson(report: DoctorReport, remedies: RemedyText) {
  const shown = <Part extends Pick<DoctorReport, "problems">>(part: Part): InTexts<Part> => ({
    ...part,
    problems: part.problems.map((one) => diagnosticJson(one, remedies)),
  });
  const { accounts, state } = report;
  return { ...shown(report), accounts: accounts.map(shown), state: state && shown(state) };
}

/**
 * Formats the report of `hostform doctor`: a block for each account, the state, and the problems. Ends with a newline.
 * @param hints lines above the verdict.
 */
export function renderDoctor(report: DoctorReport, style: MessageStyle, hints: readonly string[] = []): string {
  const paint = painter(style.color);
  const width = style.width && Math.max(40, Math.min(MAX_PROSE, style.width));
  const row = ([label, text]: Row) => {
    const [first = "", ...rest] = wrap(escapeLine(text), width && width - MARGIN.length);
    return [`  ${pad(label, MARGIN.length - 2)}${stroked(first, paint)}`, ...rest.map((line) => MARGIN + line)];
  };
  const block = (title: string, rows: readonly Row[]) => [paint.bold(title), ...rows.flatMap(row)];
  const { accounts, state } = report;
  const problems = [...report.problems, ...(state?.problems ?? []), ...accounts.flatMap((one) => one.problems)];
  const blocks = [
    ...accounts.map((account) => block(`Account ${escapeLine(account.provider)}`, accountRows(account))),
    ...(state === null ? [] : [block("State", stateRows(state))]),
    ...(problems.length === 0 ? [] : [[renderDiagnostics(problems, style).trimEnd()]]),
    ...(hints.length === 0 ? [] : [hints]),
    [report.healthy ? paint.good("Healthy.") : paint.error("Not healthy.")],
  ];
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/** Colours the first word. */
const stroked = (text: string, paint: Paint): string =>
  text.replace(/^(?:(yes)|(no)|(unknown))\b/, (word, yes, no) =>
    yes ? paint.good(word) : no ? paint.warning(word) : paint.dim(word),
  );

function accountRows(account: AccountReport): Row[] {
  const { base_url: url, token_from: source, requests, proxy, store } = account;
  const address: Row = ["address", `${url ?? "unknown"}, token from ${source}`];
  const machine: Row[] = [
    ["proxy", proxy === null ? "none" : `${proxy.address} (${proxy.variable})`],
    ["store", store ?? "in memory: other processes do not share it"],
  ];
  if (requests === null) return [address, ...machine];
  const { limit, left, sent } = requests;
  const used: Row = ["requests", `${left} of ${limit} left in this minute, after ${sent} requests of this check`];
  const { abilities, client_accounts: clients, discount, restricted } = account;
  if (Object.values(abilities).every((access) => access === "unknown")) return [address, used, ...machine];
  return [
    address,
    ["account", [servicesText(account), ...(account.identity ? [IDENTITY[account.identity]] : [])].join("; ")],
    ...(Object.keys(abilities) as (keyof typeof abilities)[]).map((name): Row => [name, abilityText(account, name)]),
    ["Manage track", `client accounts: ${clients}; discount in the plans: ${discount}`],
    ["restricted", restricted === "yes" ? "yes, to some services" : "unknown: no GET shows it"],
    used,
    ["clock", clockText(account.clock_offset_ms)],
    ...machine,
    ...account.gaps.map(({ gap, seen, effect, setting }): Row => {
      const help = setting === undefined ? "" : ` Set \`${setting}\`.`;
      return ["cannot read", `${gap}: ${seen}. ${effect}${help}`];
    }),
    ...(account.undetermined.length === 0
      ? []
      : [["cannot see", `No GET shows the values for ${account.undetermined.join(" and ")}.`] as const]),
  ];
}

const IDENTITY: Readonly<Record<NonNullable<AccountReport["identity"]>, string>> = {
  same: "the account of the state",
  other: "not the account of the state",
  unknown: "nothing proves that the state belongs to this account",
  new: "the state has no resources of this account",
};

function servicesText({ services }: AccountReport): string {
  if (services === null) return "services unknown";
  const { count, more, domain } = services;
  return `${more ? "more than " : ""}${plural(count, "service")}${domain === null ? "" : `, one is ${domain}`}`;
}

const USES: Readonly<Record<keyof AccountReport["abilities"], string>> = {
  view: "services, plans, client accounts, migrations",
  technical: "orders, suspensions, passwords, grants, webhooks, domains, migrations",
  billing: "invoices, new client accounts",
};

/** Formats the access of an ability, and the endpoints with different access. */
function abilityText({ abilities, endpoints }: AccountReport, name: keyof AccountReport["abilities"]): string {
  const own = endpoints.filter(({ ability }) => ability === name);
  const access = abilities[name];
  const why = own.find((one) => one.access === access && one.endpoint.startsWith("GET"))?.why;
  const others = Map.groupBy(
    own.filter((one) => one.access !== access),
    (one) => `${WORDS[one.access]}: ${one.why}`,
  );
  const except = [...others].map(([reason, some]) => `${some.map(({ endpoint }) => endpoint).join(", ")} (${reason})`);
  const head = access === "yes" || why === undefined ? `${access}: ${USES[name]}` : `${access}: ${USES[name]} (${why})`;
  return except.length === 0 ? head : `${head}; except ${except.join("; ")}`;
}

const WORDS: Readonly<Record<Access, string>> = { yes: "allowed", no: "denied", unknown: "unknown" };

function clockText(offset: number | null): string {
  if (offset === null) return "unknown: no response has a date";
  // The date of a response has whole seconds.
  if (Math.abs(offset) < 1_000) return "as on this machine";
  return `${formatDuration(Math.abs(offset) / 1000)} ${offset > 0 ? "ahead of" : "behind"} this machine; hostform uses it`;
}

function stateRows({ place, resources, encrypted, lock, problems }: StateReport): Row[] {
  const none = problems.some(isError) ? "unreadable" : "no state yet";
  const content = resources === null ? none : plural(resources, "resource");
  const form = encrypted === null ? "" : encrypted ? ", encrypted" : ", not encrypted";
  const held = lock === "unknown" ? "unknown: only its server knows" : (lock ?? "free");
  return [
    ["place", `${place}: ${content}${form}`],
    ["lock", held],
  ];
}
