import { testChannels } from "../project/notify/index.ts";
import { type Action, printResult } from "./terminal.ts";

/** Runs `hostform notify test`: sends a test notification to each channel. @returns 1 if a channel fails. */
export const runNotifyTest: Action = async (terminal, project) => {
  const deliveries = await testChannels(project);
  const lines = deliveries.map(({ channel, failure = "sent" }) => `${channel}: ${failure}\n`);
  printResult(terminal, { deliveries }, lines.join(""));
  return deliveries.some(({ failure }) => failure) ? 1 : 0;
};
