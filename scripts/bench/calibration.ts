// A fixed piece of work of the kind that a plan does (texts to objects, maps, comparison, sorting), about half a second: figures
// of processor time are ratios to it. Changing it makes them incomparable with the tables before.
const services = Array.from({ length: 4_000 }, (_, at) => ({
  id: String(1_000 + at),
  domain: `client-${at}.bench.example`,
  plan: { id: 11, name: "Shared Start", prices: [500, 450, at] },
  tags: { status: at % 7 === 0 ? "suspended" : "active", currency: "USD", at },
}));
let kept = 0;
for (let round = 0; round < 24; round++) {
  const read = JSON.parse(JSON.stringify(services)) as typeof services;
  const byDomain = new Map(read.map((service) => [service.domain, service]));
  for (const service of services) {
    const found = byDomain.get(service.domain);
    if (found !== undefined && JSON.stringify(found.tags) === JSON.stringify(service.tags)) kept += 1;
  }
  read.sort((a, b) => (a.tags.status + a.domain < b.tags.status + b.domain ? -1 : 1));
  kept += read.map(({ domain }) => domain.split(".").toReversed().join(".")).join("\n").length;
}
if (kept === 0) throw new Error("nothing was compared");
