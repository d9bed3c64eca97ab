/**
 * A provider process that notes what it creates: `FOLDER PROJECT PREFIX COUNT` notes COUNT services, says `noted` and stays
 * as it is, without closing anything, until it is killed. It imports the sources: the built provider notes nothing without a request.
 */
import { systemClock } from "../../src/core/model/index.ts";
import { openJournal } from "../../src/fronts/terraform/journal.ts";

const [folder = "", project = "", prefix = "", count = ""] = process.argv.slice(2);
const journal = openJournal({
  folder,
  baseUrl: "https://api.hosting.example",
  token: "7|canary-token-Zq81xYp4",
  project,
  clock: systemClock,
  onWarning: ({ summary, detail }) => void process.stdout.write(`${summary} ${detail}\n`),
});
for (let i = 0; i < Number(count); i++) {
  journal.put("hosting_service", `${prefix}${i}`, {
    address: `hosting_service.${prefix}${i}`,
    provider: "default",
    schemaVersion: 0,
    attributes: { id: `${prefix}-${i}` },
    sensitive: [],
    private: {},
    dependencies: [],
  });
}
process.stdout.write("noted\n");
setInterval(() => journal.list(), 60_000);
