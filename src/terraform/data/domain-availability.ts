import type { DomainAvailability } from "../../api/index.ts";
import { foldedDomain } from "../../kinds/index.ts";
import type { Json } from "../../model/index.ts";
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

/** The answer for a name: the client asks for each in lower case, once. */
function availabilityOf(name: string, answers: readonly DomainAvailability[]): boolean | null {
  const wanted = foldedDomain(name);
  return answers.find(({ domain }) => foldedDomain(domain) === wanted)?.available ?? null;
}
