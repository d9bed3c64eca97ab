import type { DomainAvailability } from "../../../core/api/index.ts";
import { domainName } from "../../../core/kinds/common.ts";
import { foldedDomain } from "../../../core/kinds/index.ts";
import { type Diagnostic, type Json, UNKNOWN, type Value } from "../../../core/model/index.ts";
import { type CheckedDataSource, required, told } from "./define.ts";

export const hostingDomainAvailability: CheckedDataSource = {
  name: "hosting_domain_availability",
  schema: {
    version: 0,
    description:
      "Whether domains can be registered, as far as the API tells. It is asked again at each plan; an answer is no reservation.",
    attributes: {
      domains: required({ list: "string" }, "The domains to ask about, such as `acme.example`."),
      available: told(
        { map: "bool" },
        "By domain, as it stands in `domains`: `true` when it can be registered, `false` when it cannot, null when the API's answer cannot be understood.",
      ),
      all_available: told("bool", "Whether every one of them can certainly be registered."),
    },
  },
  check: ({ domains }) =>
    Array.isArray(domains) ? domains.flatMap((name, at) => (isDomain(name) ? [] : [notADomain(name, at)])) : [],
  async read({ domains }, { client, stop }) {
    const names = Array.isArray(domains) ? domains.map(String) : [];
    const asked = [...new Set(names)];
    const answers = asked.length === 0 ? [] : await client.domains.check(asked, { signal: stop });
    const entries = asked.map((name): [string, Json] => [name, availabilityOf(name, answers)]);
    return {
      domains: names,
      available: Object.fromEntries(entries),
      all_available: entries.every(([, available]) => available === true),
    };
  },
};

/** What is unknown yet is looked at later. */
function isDomain(name: Value): boolean {
  if (name === UNKNOWN) return true;
  return typeof name === "string" && domainName().safeParse(name.replace(/\.$/, "")).success;
}

function notADomain(name: Value, at: number): Diagnostic {
  return {
    severity: "error",
    code: "config.invalid_value",
    summary: `${JSON.stringify(name)} is not a domain name`,
    remedies: ["Give names such as acme.example."],
    attribute: ["domains", at],
  };
}

/** The answer for a name: the client asks for each in lower case, once. */
function availabilityOf(name: string, answers: readonly DomainAvailability[]): boolean | null {
  const wanted = foldedDomain(name);
  return answers.find(({ domain }) => foldedDomain(domain) === wanted)?.available ?? null;
}
