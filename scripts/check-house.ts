// Runs `npm run check:house`: measures the structure of `src`. Each figure has a goal and a bound. A figure above its bound fails. A change
// may only lower a bound. Exception: a new feature may raise the bound on the size of `src` (docs/decisions/0037-what-a-feature-adds.md).
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { circles, files, imports, isGenerated, roomOf, SRC, sizeOf, textOf } from "./house/sources.ts";
import { PLACEHOLDER } from "./release/channels.ts";

interface Figure {
  readonly what: string;
  readonly now: number;
  readonly goal: number;
  /** The most that is allowed today. */
  readonly bound: number;
  /** Its places. */
  readonly which?: readonly string[];
}

const written = files.filter((file) => !isGenerated(file));
const texts = new Map(files.map((file) => [file, textOf(file)]));

/** Names that four files or more export, each with its own meaning. A constant and its type in one file are one. */
const EXPORTED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:class|const|function\*?|interface|type|enum) (\w+)/gm;
const named = written.flatMap((file) => {
  const names = new Set([...(texts.get(file) ?? "").matchAll(EXPORTED)].map(([, name = ""]) => name));
  return [...names].map((name) => ({ name, file }));
});
const meanings = [...Map.groupBy(named, ({ name }) => name)].filter(
  // The same name in the folder of each command, kind, page or call is a layer: `run`, `page`, `calls`.
  ([name, of]) => of.length >= 4 && /^[A-Z][a-z]/.test(name),
);

/** Sentences are not parsed: the parts of a diagnostic are data at its source. */
const PARSED =
  /\b(?:summary|detail|fix|remedies)\b\??\.(?:replace(?:All)?|match(?:All)?|startsWith|endsWith|includes|search|split)\(|\.(?:test|exec)\((?:\w+\.)?(?:summary|detail|fix)\b/g;
const parsing = written.flatMap((file) =>
  [...(texts.get(file) ?? "").matchAll(PARSED)].map(([code]) => `${file}: ${code}`),
);

/**
 * Words that the field does not use (docs/concepts.md lists those that it does), by where they are. `weather` is also a switch of
 * the sandbox's profile: as a quoted name, a key or a property it does not count.
 */
const RETIRED =
  /\b(?:told|tells?|telling|anew|heed(?:s|ed|ing)?|for ever|whoever|by (?:it|them)sel(?:f|ves)|hangs? on|in doubt|surroundings|aims?|let go of|as of now|may well|stands at|(?<!["'`.])weather(?!["'`=:]| }))\b/gi;
const root = path.resolve(SRC, "..");
const WRITTEN_IN: readonly [where: string, glob: string, bound: number][] = [
  ["sources", "src/**/*.ts", 0],
  ["pages and examples", "{{docs,examples,test/fixtures}/**/*.{md,ts,mjs,yaml,tf},*.md}", 0],
  ["tests", "test/**/*.ts", 0],
  ["scripts", "scripts/{*,!(bindings|node)/**/*,bindings/*}.{ts,mjs,md}", 0],
];
const retired = WRITTEN_IN.map(([where, glob, bound]) => ({
  where,
  bound,
  found: globSync(glob, { cwd: root })
    .filter((file) => !/node_modules|^scripts\/check-house/.test(file))
    .map((file) => ({ file, count: readFileSync(path.join(root, file), "utf8").match(RETIRED)?.length ?? 0 }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count),
}));

/** Files that name a publisher who is not known yet. package.json does, and the release writes it into other files. */
const publishers = globSync("{*.md,{docs,examples,integrations,schemas,scripts,src,test}/**/*.*}", {
  cwd: root,
  exclude: (name) => /node_modules|\.webp$/.test(name),
}).filter((file) => PLACEHOLDER.test(readFileSync(path.join(root, file), "utf8")));

const across = new Set(
  imports.flatMap(({ from, to }) => (roomOf(from) === roomOf(to) ? [] : [`${roomOf(from)} -> ${roomOf(to)}`])),
);

const size = files.filter((file) => !file.endsWith(".gen.ts")).map(sizeOf);
const clauses = size.flatMap(({ clauses }) => clauses);
const total = size.reduce((tokens, { tokens: more }) => tokens + more, 0);

const figures: readonly Figure[] = [
  // A feature raises this bound by the figure in its closing note (decision 0037).
  { what: "size of src, in tokens and words", now: total, goal: 575_000, bound: 978_250 },
  { what: "comments that begin with a relative clause", now: clauses.length, goal: 168, bound: 830, which: clauses },
  { what: "hand-written files", now: written.length, goal: 460, bound: 678 },
  { what: "arrows between rooms", now: across.size, goal: 60, bound: 93, which: [...across].sort() },
  {
    what: "exported names with four meanings or more",
    now: meanings.length,
    goal: 0,
    bound: 0,
    which: meanings.map(([name, of]) => `${name}: ${of.map(({ file }) => file).join(", ")}`),
  },
  { what: "sentences that are parsed", now: parsing.length, goal: 0, bound: 0, which: parsing },
  ...retired.map(({ where, bound, found }) => ({
    what: `words that the field does not use, in ${where}`,
    now: found.reduce((total, { count }) => total + count, 0),
    goal: 0,
    bound,
    which: found.map(({ file, count }) => `${count} ${file}`),
  })),
  { what: "files that name the publisher", now: publishers.length, goal: 0, bound: 0, which: publishers },
  { what: "circles, lazy imports included", now: circles(imports).length, goal: 0, bound: 0, which: circles(imports) },
];

const names = process.argv.includes("--which");
for (const { what, now, goal, bound, which = [] } of figures) {
  const beyond = now > bound;
  const reached = now <= goal;
  const mark = beyond ? "FAILED" : reached ? "ok    " : "open  ";
  console.log(`${mark} ${what}: ${now} (goal: at most ${goal}${reached ? "" : `, bound: ${bound}`})`);
  if (names || beyond) for (const one of which) console.log(`         ${one}`);
  if (beyond) process.exitCode = 1;
}
