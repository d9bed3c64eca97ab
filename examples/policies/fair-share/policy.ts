// No client gets more than one order in a run, and the one who takes a site offline is asked to look twice.
import type { PolicyFunction } from "hostform";

const judge: PolicyFunction = (effects) => {
  const orders = effects.filter(({ kind }) => kind === "order");
  const later = orders.filter(({ client }, at) => orders.findIndex((one) => one.client === client) < at);
  return [
    ...later.map(({ address, client }) => ({ deny: true, address, sentence: `${client} gets a second order` }) as const),
    ...effects
      .filter(({ kind }) => kind === "offline")
      .map(({ address, domain }) => ({ warn: true, address, sentence: `Is ${domain} meant to go offline?` }) as const),
  ];
};

export default judge;
