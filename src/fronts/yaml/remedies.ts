import type { Json, RemedyText } from "../../core/model/index.ts";
import { commandLineRemedies, type Language } from "../source/remedies.ts";

/** A value in the flow style of YAML, on one line: bare where it is a word, else as JSON, which YAML contains. */
const inYaml = (value: Json): string =>
  typeof value === "string" && /^[a-z][\w.-]*$/i.test(value) && !WORDS.test(value) ? value : flow(value);

/** `${` begins a reference in a declaration; `$${` is the text. */
const flow = (value: Json): string => JSON.stringify(value).replaceAll("${", "$$${");

/** What YAML takes for something else than a text. */
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n|\.inf|\.nan)$/i;

const LANGUAGE: Language = {
  flags: "",
  assign: (attribute, value) => `\`${attribute}: ${inYaml(value)}\``,
  adopt: (id) => `\`import: ${flow(id)}\` in its block`,
  provider: (alias) => `\`provider: ${inYaml(alias)}\``,
  statusWord: (provider, word, phase) =>
    `\`providers: { ${inYaml(provider)}: { status_words: { ${flow(word)}: ${phase} } } }\``,
  project: "`project: NAME`",
  lastingLimits: "; `max_removals` and `max_removals_percent` under `guards` set other limits for good",
};

/** What can be done, for a project that is declared in YAML. */
export const yamlRemedies: RemedyText = commandLineRemedies(LANGUAGE);
