/** Messages about the MCP server. */
import { type Catalogue, error, type Raise, raiseOf, type Words } from "../../core/messages/message.ts";
import { shellPath, some } from "../../core/model/index.ts";

const messages = {
  "mcp.start/package": error(({ why }: Words<"why">) => ({
    summary: "The MCP server requires the npm package @modelcontextprotocol/sdk",
    detail: why,
    remedies: [
      "Install the npm packages hostform and @modelcontextprotocol/sdk in the same place. The single executable cannot load packages.",
    ],
  })),
  "mcp.start/key": error(({ name }: Words<"name">) => ({
    summary: `${name} is set, and an agent must not be able to sign mandates`,
    remedies: [`Unset ${name} for this program. Sign mandates as another user, or on another machine.`],
  })),
  "mcp.start/origins": error(() => ({
    summary: "HOSTFORM_ALLOWED_ORIGINS is not set, so a changed declaration could send the token to any host",
    remedies: ["Set it to the origin of the API, such as `https://api.example.com`."],
  })),
  "mcp.start/token": error(() => ({
    summary: "HOSTFORM_MCP_TOKEN is shorter than 32 characters",
    remedies: ["Set the output of `openssl rand -hex 32`. If it is unset, hostform prints a random token."],
  })),
  "mcp.start/folder": error(() => ({
    summary: "The user has no home folder for the plans",
    remedies: ["Pass `--plans DIR`."],
  })),
  "mcp.start/plans": error({
    summary: "The plans cannot be kept in {folder}: {why}",
    remedies: ["Pass a folder that you may write to: `--plans DIR`."],
  }),
  "mcp.mandate/approvers": error({
    summary: "HOSTFORM_APPROVERS is not set for the MCP server, so it applies nothing",
    remedies: [
      "Ask a person to set HOSTFORM_APPROVERS to the public keys of the approvers, and to start the server again.",
    ],
  }),
  "mcp.plan": error(({ digest }: Words<"digest">) => ({
    summary: `There is no plan ${digest}`,
    remedies: ["Call the tool `plan`, and pass the digest in its result."],
  })),
  "mcp.mandate": error(({ file }: Words<"file">) => ({
    summary: "An apply requires a mandate, which only a person can sign",
    remedies: [
      `Ask a person to review the plan and to run \`hostform mandate create ${shellPath(file)}\`. Then pass the text of the mandate.`,
    ],
  })),
  "mcp.busy": error(() => ({
    summary: "Another apply, or 16 other calls, are in progress",
    remedies: ["Wait for their end. `hostform://latest/apply` is the result of the latest apply."],
  })),
  "mcp.topic": error(({ about, pages }: Words<"about"> & { readonly pages: readonly string[] }) => ({
    summary: `"${about}" is no error code, address or page`,
    remedies: [`Pass a code of a diagnostic, an address, or a page: ${some(pages, 99)}.`],
  })),
} satisfies Catalogue;

/** Throws a message of the catalogue. */
export const raise: Raise<typeof messages> = raiseOf(messages);
