import type { Json, RemedyText } from "../../core/model/index.ts";
import { commandLineRemedies, type Language } from "../source/remedies.ts";

/** Formats a value in YAML on one line: as a plain word, or as JSON, which is valid YAML. */
const inYaml = (value: Json): string =>
  typeof value === "string" && /^[a-z][\w.-]*$/i.test(value) && !WORDS.test(value) ? value : flow(value);

/** Escapes `${`, which starts a reference, as `$${`. */
const flow = (value: Json): string => JSON.stringify(value).replaceAll("${", "$$${");

/** Words that YAML would not read as strings. */
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n|\.inf|\.nan)$/i;

const LANGUAGE: Language = {
  flags: "",
  assign: (attribute, value) => `\`${attribute}: ${inYaml(value)}\``,
  adopt: (id) => `\`import: ${flow(id)}\` in its block`,
  moved: (from, to) => `\`moved: [{from: ${inYaml(from)}, to: ${inYaml(to)}}]\``,
  removed: (address) => `\`removed: [{from: ${inYaml(address)}, destroy: false}]\``,
  provider: (alias) => `\`provider: ${inYaml(alias)}\``,
  statusWord: (provider, word, phase) =>
    `\`providers: { ${inYaml(provider)}: { status_words: { ${flow(word)}: ${phase} } } }\``,
  project: "`project: NAME`",
  lastingLimits: " To change the limits permanently, set `max_removals` and `max_removals_percent` under `guards`.",
};

/** Renders remedies for a YAML project. */
export const yamlRemedies: RemedyText = commandLineRemedies(LANGUAGE);
