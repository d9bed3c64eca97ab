// Manual pages and shell completions of the archives, in the places below `share` where systems look for them.
import { SCRIPTS } from "../../src/cli/completion.ts";
import { VERSION } from "../../src/core/api/version.ts";
import type { PackageFile } from "../../src/fronts/terraform/package.ts";
import { manPages } from "../build/man.ts";

const COMPLETIONS = {
  "share/bash-completion/completions/hostform": "bash",
  "share/zsh/site-functions/_hostform": "zsh",
  "share/fish/vendor_completions.d/hostform.fish": "fish",
  "share/powershell/hostform.ps1": "powershell",
} as const;

export function shares(): PackageFile[] {
  const pages = [...manPages(VERSION)].map(([name, text]) => [`share/man/man1/${name}`, text] as const);
  const scripts = Object.entries(COMPLETIONS).map(([name, shell]) => [name, SCRIPTS[shell]] as const);
  return [...pages, ...scripts].map(([name, text]) => ({ name, content: Buffer.from(text), mode: 0o644 }));
}
