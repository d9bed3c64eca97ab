// Manual pages and shell completions of the archives, in the places below `share` where systems look for them.

import { runCompletion } from "../../src/cli/completion.ts";
import { VERSION } from "../../src/core/api/version.ts";
import type { PackageFile } from "../../src/fronts/terraform/package.ts";
import { manPages } from "../build/man.ts";

const COMPLETIONS = {
  "share/bash-completion/completions/hostform": "bash",
  "share/zsh/site-functions/_hostform": "zsh",
  "share/fish/vendor_completions.d/hostform.fish": "fish",
  "share/powershell/hostform.ps1": "powershell",
} as const;

export async function shares(): Promise<PackageFile[]> {
  const files: PackageFile[] = [];
  const add = (name: string, text: string) => files.push({ name, content: Buffer.from(text), mode: 0o644 });
  for (const [name, text] of manPages(VERSION)) add(`share/man/man1/${name}`, text);
  for (const [name, shell] of Object.entries(COMPLETIONS))
    await runCompletion({ out: (text: string) => add(name, text) } as never, {} as never, {}, shell);
  return files;
}
