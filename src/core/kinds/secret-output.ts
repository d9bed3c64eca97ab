import * as z from "zod";
import { didYouMean, equal, isObject, type Json } from "../model/index.ts";
import { attribute } from "./attribute.ts";

const path = () => z.string("expected a path").min(1, "expected a path");

const FORMS = ["file", "env_file", "command"] as const;

const OUTSIDE = "outside_project";
const LINE = "{path: PATH, name: NAME}";
const COMMAND = "expected a list: [PROGRAM, ARGUMENT, …]";
const ONE_FORM = "exactly one of `file`, `env_file` and `command`";

/** Returns the zod error for a value that is not a map, or that has an unknown key. */
const mapOf = (known: readonly string[], wanted: string) => ({
  error: (issue: z.core.$ZodRawIssue) => {
    const [key] = issue.code === "unrecognized_keys" ? (issue.keys as string[]) : [];
    if (key === undefined) return `expected ${wanted}`;
    const word = key.slice(0, 100);
    return `"${word}" is not known.${didYouMean(word, known)} Expected: ${wanted}`;
  },
});

/** Returns the JSON schema of a map with these keys, for editors. */
const has = (...keys: string[]) => ({ properties: Object.fromEntries(keys.map((key) => [key, {}])), required: keys });

/** Returns true if no unknown key was reported. One message is enough. */
const onceKeysAreKnown = ({ issues }: z.core.ParsePayload) => issues.length === 0;

/** Removes nulls, which Terraform writes for missing parts of a nested attribute. */
const withoutNulls = (value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null)) : value;

const output = z
  .strictObject(
    {
      file: path().optional().describe("File that then contains only the secret."),
      env_file: z
        .strictObject(
          {
            path: path().describe("File of `NAME=value` lines."),
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
        .array(z.string("expected a string"), COMMAND)
        .min(1, COMMAND)
        .refine(([program]) => program !== "", "expected a program")
        .optional()
        .describe("Program with its arguments. It reads the secret from standard input, and runs without a shell."),
      [OUTSIDE]: z
        .boolean("expected true or false")
        .optional()
        .describe(
          "True if the file may be outside the base folder of relative paths. By default, a path that leaves this folder, also through a symbolic link, is an error.",
        ),
    },
    mapOf([...FORMS, OUTSIDE], ONE_FORM),
  )
  .refine((value) => FORMS.filter((form) => value[form] !== undefined).length === 1, {
    error: `expected ${ONE_FORM}`,
    when: onceKeysAreKnown,
  })
  .refine((value) => value.command === undefined || value[OUTSIDE] === undefined, {
    error: `${OUTSIDE} can be used only with file or env_file`,
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

/**
 * Returns the attribute for the destination of a one-time secret outside the state.
 * @param secret Name of the attribute with the secret.
 */
export const secretOutputAttribute = (secret: string) =>
  attribute(z.pipe(z.transform(withoutNulls), output).optional(), {
    description: `Destination of \`${secret}\` outside the state, used when the API returns it: \`{file: PATH}\`, \`{env_file: {path, name}}\` or \`{command: [PROGRAM, …]}\`. Paths are relative to the project's folder and stay in it, unless \`outside_project: true\` is added. hostform checks the destination before it sends any request.`,
    hcl: `Destination of \`${secret}\` outside the state, used when the API returns it: exactly one of \`file\`, \`env_file\` and \`command\`. Paths are relative to the directory in which Terraform runs and stay in it, unless \`outside_project = true\` is added. The provider checks the destination before it sends any request.`,
    change: "recorded",
    decisive: true,
    unreadable: true,
    same: (a: Json, b: Json) => equal(withoutNulls(a), withoutNulls(b)),
    example: { file: `secrets/${secret}` },
  });

/**
 * Returns the attribute for the fingerprint of a secret that was removed from the state.
 * @param secret Name of the attribute with the secret.
 */
export const fingerprintAttribute = (secret: string) =>
  attribute(z.string(), {
    description: `Short fingerprint of \`${secret}\`, set when \`secret_output\` removes the secret from the state: \`sha256:\` and the first 8 hex digits.`,
    computed: true,
    unreadable: true,
  });
