import { type Command, Option } from "commander";
import { collect } from "../options.ts";
import { variableNames } from "../variable-name.ts";

/** Adds the options that say where signing secrets are. @param group the heading that they stand under. */
export function addSecretOptions(command: Command, group?: string): Command {
  const options = [
    new Option("--secret-env <name>", "environment variable with a signing secret (repeatable)").argParser(
      variableNames("--secret-env"),
    ),
    new Option("--secret-file <file>", "file with signing secrets, one on each line (repeatable)").argParser(collect),
    new Option("--webhook <address>", "webhook in the state whose secret it is (repeatable)").argParser(collect),
  ];
  for (const option of options) command.addOption(group === undefined ? option : option.helpGroup(group));
  return command;
}
