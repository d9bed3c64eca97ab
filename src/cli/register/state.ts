import { examples, type Registration } from "../registration.ts";

const GROUP = "State:";
const PARTS = "Commands:";

/** output, state list|show|rm|mv|pull|push and force-unlock: what hostform remembers, and mending it by hand. */
export function registerState({ command, action }: Registration): void {
  examples(
    command("output", "print the outputs as the last apply recorded them", GROUP)
      .argument("[name]", "this one only, also when it is sensitive")
      .option("--raw", "the value of one output and nothing else")
      .action(
        action(async (invocation, flags: object, name?: string) =>
          (await import("../commands/output.ts")).runOutput(invocation, flags, name),
        ),
      ),
    [
      ["hostform output", "all, the sensitive ones hidden"],
      ["hostform output --raw site_id", "for a script"],
      ["hostform output --json", "all of them with their values, the sensitive ones too"],
    ],
  );
  const state = command("state", "look into the state, and mend it", GROUP).helpCommand(false);
  examples(
    command("list", "list the resources of the state", PARTS, state)
      .argument("[address-prefix]", "only addresses that begin like this")
      .option("--long", "a table with ids and accounts too")
      .action(
        action(async (invocation, flags: object, prefix?: string) =>
          (await import("../commands/state/list.ts")).runStateList(invocation, flags, prefix),
        ),
      ),
    [["hostform state list hosting_grant.", "all grants"]],
  );
  examples(
    command("show", "show a resource of the state; secrets stay hidden", PARTS, state)
      .argument("<address>")
      .option("--reveal", "show the secret values too")
      .action(
        action(async (invocation, flags: object, address: string) =>
          (await import("../commands/state/show.ts")).runStateShow(invocation, flags, address),
        ),
      ),
    [["hostform state show hosting_webhook.billing --reveal", "with its signing secret"]],
  );
  examples(
    command("rm", "forget resources; they stay in the account", PARTS, state)
      .argument("<addresses...>")
      .action(
        action(async (invocation, _flags: object, addresses: string[]) =>
          (await import("../commands/state/rm.ts")).runStateRm(invocation, addresses),
        ),
      ),
    [["hostform state rm hosting_grant.acme-www", "all grants of that name"]],
  );
  examples(
    command("mv", "give a resource another address, after renaming it in the declaration", PARTS, state)
      .argument("<from>")
      .argument("<to>")
      .action(
        action(async (invocation, _flags: object, from: string, to: string) =>
          (await import("../commands/state/mv.ts")).runStateMv(invocation, from, to),
        ),
      ),
    [["hostform state mv hosting_service.acme hosting_service.acme-www", "after the rename"]],
  );
  examples(
    command("pull", "print the state file, secrets included", PARTS, state).action(
      action(async (invocation) => (await import("../commands/state/pull.ts")).runStatePull(invocation)),
    ),
    [["hostform state pull > backup.tfstate", "a copy"]],
  );
  examples(
    command("push", "replace the state by a file", PARTS, state)
      .argument("[file]", "a state file, or - for standard input", "-")
      .option("--force", "also when it is older, or of another project")
      .action(
        action(async (invocation, flags: object, file: string) =>
          (await import("../commands/state/push.ts")).runStatePush(invocation, flags, file),
        ),
      ),
    [["hostform state push backup.tfstate --force", "go back to a copy"]],
  );
  examples(
    command("encrypt", "encrypt the state with the key in the environment", PARTS, state).action(
      action(async (invocation) => (await import("../commands/state/encrypt.ts")).runStateEncrypt(invocation)),
    ),
    [["HOSTFORM_STATE_PASSPHRASE=… hostform state encrypt", "from now on it is needed by every command"]],
  );
  examples(
    command("decrypt", "write the state in the clear", PARTS, state).action(
      action(async (invocation) => (await import("../commands/state/decrypt.ts")).runStateDecrypt(invocation)),
    ),
    [["hostform state decrypt", "for Terraform, which cannot read an encrypted one"]],
  );
  examples(
    command("rotate-key", "encrypt the state with another key", PARTS, state).action(
      action(async (invocation) => (await import("../commands/state/rotate-key.ts")).runStateRotateKey(invocation)),
    ),
    [["HOSTFORM_STATE_NEW_PASSPHRASE=… hostform state rotate-key", "the old one is where it always is"]],
  );
  examples(
    command("force-unlock", "free the state's lock when its holder hangs", GROUP)
      .argument("[lock-id]", "free this lock only; needed where a backend does not say who holds it")
      .option("--yes", "do not ask")
      .action(
        action(async (invocation, flags: object, id?: string) =>
          (await import("../commands/force-unlock.ts")).runForceUnlock(invocation, flags, id),
        ),
      ),
    [["hostform force-unlock", "shows who holds it, then asks"]],
  );
}
