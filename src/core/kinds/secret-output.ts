import * as z from "zod";
import { didYouMean, equal, isObject, type Json } from "../model/index.ts";
import { attribute } from "./attribute.ts";

const text = (what: string) => z.string(`expected ${what}`).min(1, `expected ${what}`);

const FORMS = ["file", "env_file", "command"] as const;

const OUTSIDE = "outside_project";
const LINE = "{path: PATH, name: NAME}";
const COMMAND = "expected a list: [PROGRAM, ARGUMENT, …]";
const ONE_FORM = "exactly one of `file`, `env_file` and `command`";

/** Returns the message for a value that is not a map or has an unknown key. */
const mapOf = (known: readonly string[], wanted: string) => ({
  error: (issue: z.core.$ZodRawIssue) => {
    const [key] = issue.code === "unrecognized_keys" ? (issue.keys as string[]) : [];
    if (key === undefined) return `expected ${wanted}`;
    const word = key.slice(0, 100);
    return `"${word}" is not known.${didYouMean(word, known)} Expected: ${wanted}`;
  },
});

/** Returns a JSON schema that requires these keys, for editors. */
const has = (...keys: string[]) => ({ properties: Object.fromEntries(keys.map((key) => [key, {}])), required: keys });

/** Skips further checks after an unknown key, because one message is enough. */
const onceKeysAreKnown = ({ issues }: z.core.ParsePayload) => issues.length === 0;

/** Removes the null values that Terraform writes for missing nested attributes. */
const withoutNulls = (value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null)) : value;

const output = z
  .strictObject(
    {
      file: text("a path").optional().describe("File whose whole content becomes the secret."),
      env_file: z
        .strictObject(
          {
            path: text("a path").describe("File of `NAME=value` lines."),
            name: z
              .string("expected the name of a variable, such as HOOK_SECRET")
              .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "expected the name of a variable, such as HOOK_SECRET")
              .describe("Name of the variable whose line is replaced or appended."),
          },
          mapOf(["path", "name"], LINE),
        )
        .optional()
        .describe("One line of an env file."),
      command: z
        .array(z.string("expected a text"), COMMAND)
        .min(1, COMMAND)
        .refine(([program]) => program !== "", "expected a program")
        .optional()
        .describe("Program, with its arguments, that reads the secret from standard input. It is run without a shell."),
      [OUTSIDE]: z
        .boolean("expected true or false")
        .optional()
        .describe(
          "Whether the file may lie outside of the folder that paths are relative to. Without it, a path that leaves the folder, also through a symbolic link, is refused.",
        ),
    },
    mapOf([...FORMS, OUTSIDE], ONE_FORM),
  )
  .refine((value) => FORMS.filter((form) => value[form] !== undefined).length === 1, {
    error: `expected ${ONE_FORM}`,
    when: onceKeysAreKnown,
  })
  .refine((value) => value.command === undefined || value[OUTSIDE] === undefined, {
    error: `${OUTSIDE} goes with a file or an env_file`,
    when: onceKeysAreKnown,
  })
  .meta({
    minProperties: 1,
    not: {
      anyOf: [
        has("file", "env_file"),
        has("file", "command"),
        has("env_file", "command"),
        has("command", OUTSIDE),
        { ...has(OUTSIDE), maxProperties: 1 },
      ],
    },
  });

/** Returns the attribute with the destination of a one-time secret. @param secret Attribute with the secret. */
export const secretOutputAttribute = (secret: string) =>
  attribute(z.pipe(z.transform(withoutNulls), output).optional(), {
    description: `Where \`${secret}\` is written to when the API shows it, instead of staying in the state: \`{file: PATH}\`, \`{env_file: {path, name}}\` or \`{command: [PROGRAM, …]}\`. Paths are relative to the project's folder and stay in it, unless \`outside_project: true\` is added. Checked before any request is sent.`,
    hcl: `Where \`${secret}\` is written to when the API shows it, instead of staying in the state: exactly one of \`file\`, \`env_file\` and \`command\`. Paths are relative to the directory in which Terraform runs and stay in it, unless \`outside_project = true\` is added. Checked before any request is sent.`,
    change: "recorded",
    decisive: true,
    unreadable: true,
    same: (a: Json, b: Json) => equal(withoutNulls(a), withoutNulls(b)),
    example: { file: `secrets/${secret}` },
  });

/**
 * Returns the attribute with a secret's fingerprint, which distinguishes secrets after they are deleted. @param secret
 * Attribute with the secret.
 */
export const fingerprintAttribute = (secret: string) =>
  attribute(z.string(), {
    description: `Short fingerprint of \`${secret}\`, once \`secret_output\` has taken it out of the state: \`sha256:\` and the first 8 hex digits.`,
    computed: true,
    unreadable: true,
  });
