/** Random expressions that are mostly valid: each part has the kind that its position needs. */
import fc from "../../support/fc.ts";

type Kind = "string" | "number" | "bool" | "list" | "numbers" | "map" | "set" | "tuple" | "object";
type Code = fc.Arbitrary<string>;

const KINDS: readonly Kind[] = ["string", "number", "bool", "list", "numbers", "map", "set", "tuple", "object"];

/** In a pattern, `$1`, `$2` … stand for parts of these kinds, and `$_` for a part of any kind. */
type Rule = readonly [pattern: string, ...parts: (Kind | "any")[]];

const LEAVES: Readonly<Record<Kind, readonly string[]>> = {
  string: [
    '"a"',
    '"b"',
    '""',
    '"Hello, Wörld"',
    '"e\\u0301😀"',
    '" x\\n"',
    '"10"',
    '"true"',
    '"$${x}"',
    "var.str",
    "var.empty",
    "var.nothing",
    "var.secret",
    "var.obj.name",
    'var.map["x"]',
    "var.clients.acme.domain",
    "terraform_data.text.output",
    "terraform_data.object.output.a",
    "null",
  ],
  number: [
    "0",
    "1",
    "2",
    "-3",
    "2.5",
    "0.1",
    "0.7",
    "1.18",
    "99.99",
    "100 * 1.18",
    "1e3",
    "12345678901234567890",
    "var.num",
    "var.frac",
    "var.neg",
    "var.zero",
    "terraform_data.number.output",
    '"4"',
  ],
  bool: ["true", "false", "var.flag", "var.off", '"true"', "terraform_data.number.output > 3"],
  list: [
    "var.list",
    "var.none",
    "var.holes",
    "var.secretlist",
    'tolist(["x", "y"])',
    "terraform_data.list.output",
    "var.lists[0]",
  ],
  numbers: ["var.nums", "tolist([1, 2, 3])", "range(3)", "[3, 1, 2]"],
  map: ["var.map", "var.nomap", "var.secrets", 'tomap({k = "v"})', "var.counts", "var.tags"],
  set: ["var.set", "var.numset", 'toset(["p", "q"])', "toset([])", "toset([terraform_data.text.output])"],
  tuple: [
    "[]",
    '[1, "a"]',
    '["a", null]',
    "[[1], []]",
    "var.mixed",
    "var.objs",
    "local.tuple",
    "[var.secret]",
    "[terraform_data.text.output, 1]",
  ],
  object: [
    "{}",
    '{a = 1, b = "x"}',
    "{a = null}",
    "var.obj",
    "var.clients",
    "local.loc",
    "local.partly",
    "terraform_data.object.output",
  ],
};

const RULES: Readonly<Record<Kind, readonly Rule[]>> = {
  string: [
    ["upper($1)", "string"],
    ["lower($1)", "string"],
    ["title($1)", "string"],
    ["trimspace($1)", "string"],
    ["strrev($1)", "string"],
    ["chomp($1)", "string"],
    ['"<$${$1}>"', "string"],
    ['"$${$1}-$${$2}"', "any", "number"],
    ['join(",", $1)', "list"],
    ["join($1, $2)", "string", "tuple"],
    ["join($1, $2)", "string", "set"],
    ["substr($1, $2, $3)", "string", "number", "number"],
    ["replace($1, $2, $3)", "string", "string", "string"],
    ['replace($1, "/[aeiou]+/", "<$$0>")', "string"],
    ["trim($1, $2)", "string", "string"],
    ["trimprefix($1, $2)", "string", "string"],
    ["trimsuffix($1, $2)", "string", "string"],
    ["indent(2, $1)", "string"],
    ['format("%s|%v", $1, $2)', "string", "any"],
    ['format("%d", $1)', "number"],
    ['format("%.2f %g %e", $1, $2, $3)', "number", "number", "number"],
    ['format("%#v", $1)', "any"],
    ['format("%q %5s", $1, $2)', "string", "any"],
    ["jsonencode($1)", "any"],
    ["base64encode($1)", "string"],
    ["base64decode(base64encode($1))", "string"],
    ["sha256($1)", "string"],
    ["urlencode($1)", "string"],
    ["tostring($1)", "number"],
    ["jsonencode($1)", "number"],
    ['format("%v|%.0f|%.20f|%.3e", $1, $1, $2, $3)', "number", "number", "number"],
    ['join("|", formatlist("%s", $1))', "numbers"],
    ["tostring($1)", "any"],
    ["coalesce($1, $2)", "string", "string"],
    ["coalesce($1, $2)", "any", "string"],
    ["element($1, $2)", "list", "number"],
    ["$1[0]", "list"],
    ["$1[$2]", "list", "number"],
    ['lookup($1, "x", $2)', "map", "string"],
    ["try($1, $2)", "any", "string"],
    ["$1 ? $2 : $3", "bool", "string", "string"],
    ["$1 ? $2 : $3", "bool", "any", "any"],
    ["one($1)", "list"],
    ["nonsensitive($1)", "string"],
    ["sensitive($1)", "string"],
    ['"%{ if $1 }a%{ else }$${$2}%{ endif }"', "bool", "any"],
    ['"%{ for x in $1 }$${x},%{ endfor }"', "any"],
    ["$1.a", "object"],
    ['$1["a"]', "object"],
    ["try($1.a, $2)", "object", "any"],
    ["min($1...)", "numbers"],
  ],
  number: [
    ["$1 + $2", "number", "number"],
    ["$1 - $2", "number", "number"],
    ["$1 * $2", "number", "number"],
    ["$1 % 3", "number"],
    ["$1 % $2", "number", "number"],
    ["pow($1, $2)", "number", "number"],
    ["parseint($1, $2)", "string", "number"],
    ["length($1) / 3", "list"],
    ["tonumber(tostring($1))", "number"],
    ["tonumber(jsonencode($1))", "number"],
    ["jsondecode(tostring($1))", "number"],
    ["$1 / 4", "number"],
    ["$1 / $2", "number", "number"],
    ["-$1", "number"],
    ["($1)", "number"],
    ["length($1)", "any"],
    ["length($1)", "string"],
    ["length($1)", "list"],
    ["length($1)", "set"],
    ["abs($1)", "number"],
    ["ceil($1)", "number"],
    ["floor($1)", "number"],
    ["max($1, $2)", "number", "number"],
    ["min($1, $2)", "number", "number"],
    ["sum($1)", "numbers"],
    ["sum($1)", "tuple"],
    ["tonumber($1)", "string"],
    ["tonumber($1)", "any"],
    ["$1 ? $2 : $3", "bool", "number", "number"],
    ["index($1, $2)", "list", "string"],
    ["signum($1)", "number"],
    ["parseint($1, 16)", "string"],
    ["element($1, $2)", "numbers", "number"],
    ["lookup(var.counts, $1, $2)", "string", "number"],
    ["pow(2, $1)", "number"],
    ["try($1, $2)", "number", "number"],
  ],
  bool: [
    ["$1 == $2", "any", "any"],
    ["$1 != $2", "string", "string"],
    ["$1 == $2", "number", "number"],
    ["$1 > $2", "number", "number"],
    ["$1 <= $2", "number", "number"],
    ["$1 && $2", "bool", "bool"],
    ["$1 || $2", "bool", "bool"],
    ["!$1", "bool"],
    ["!($1)", "bool"],
    ["contains($1, $2)", "list", "string"],
    ["contains($1, $2)", "tuple", "any"],
    ["contains($1, $2)", "set", "any"],
    ["startswith($1, $2)", "string", "string"],
    ["endswith($1, $2)", "string", "string"],
    ["strcontains($1, $2)", "string", "string"],
    ["can($1)", "any"],
    ["tobool($1)", "any"],
    ["alltrue([$1, $2])", "bool", "bool"],
    ["anytrue([$1, $2])", "bool", "bool"],
    ["issensitive($1)", "any"],
    ["$1 == null", "any"],
    ["$1 ? $2 : $3", "bool", "bool", "bool"],
    ['can(regex("^[a-z]+$$", $1))', "string"],
  ],
  list: [
    ["tolist([$1, $2])", "string", "string"],
    ["tolist($1)", "set"],
    ["tolist($1)", "any"],
    ["concat($1, $2)", "list", "list"],
    ["distinct($1)", "list"],
    ["sort($1)", "list"],
    ["reverse($1)", "list"],
    ["reverse($1)", "any"],
    ["compact($1)", "list"],
    ["slice($1, 0, $2)", "list", "number"],
    ["keys($1)", "map"],
    ["values($1)", "map"],
    ["split($1, $2)", "string", "string"],
    ['formatlist("%s-%v", $1, $2)', "list", "any"],
    ["[for x in $1: upper(x)]", "list"],
    ["$1[*]", "list"],
    ["$1[*]", "any"],
    ["$1 ? $2 : $3", "bool", "list", "list"],
    ["$1 ? $2 : $3", "bool", "list", "tuple"],
    ["chunklist($1, 2)", "list"],
    ["flatten($1)", "tuple"],
    ["flatten([$1, $2])", "list", "any"],
    ["coalescelist($1, $2)", "list", "list"],
    ["matchkeys($1, $2, $3)", "list", "list", "list"],
    ['regexall("[a-z]", $1)', "string"],
    ["setproduct($1, $2)", "list", "tuple"],
    ["distinct($1)", "tuple"],
  ],
  numbers: [
    ["[for x in $1: x * 2]", "numbers"],
    ["[for x in $1: x if x > $2]", "numbers", "number"],
    ["[for i, x in $1: i]", "any"],
    ["[$1, $2]", "number", "number"],
    ["range($1)", "number"],
    ["range($1, $2)", "number", "number"],
    ["range($1, $2, $3)", "number", "number", "number"],
    ["tolist(toset($1))", "numbers"],
    ["[for x in $1: length(x)]", "list"],
  ],
  map: [
    ["merge($1, $2)", "map", "map"],
    ["tomap($1)", "object"],
    ["{for k, v in $1: k => v}", "map"],
    ["{for x in $1: x => upper(x)...}", "list"],
    ["zipmap($1, $2)", "list", "list"],
    ["{for k, v in $1: upper(k) => v}", "object"],
    ["$1 ? $2 : $3", "bool", "map", "map"],
    ["$1 ? $2 : $3", "bool", "map", "object"],
    ["transpose($1)", "map"],
    ["tomap({a = $1, b = $2})", "any", "any"],
  ],
  set: [
    ["toset($1)", "list"],
    ["toset($1)", "tuple"],
    ["setunion($1, $2)", "set", "list"],
    ["setintersection($1, $2)", "set", "set"],
    ["setsubtract($1, $2)", "set", "list"],
    ["$1 ? $2 : $3", "bool", "set", "set"],
    ["setproduct($1, $2)", "set", "set"],
    ["toset([for x in $1: x])", "any"],
  ],
  tuple: [
    ["[$1, $2]", "any", "any"],
    ["[$1]", "any"],
    ["concat($1, $2)", "tuple", "list"],
    ["concat($1, $2)", "tuple", "tuple"],
    ["flatten([$1, $2])", "any", "any"],
    ["[for x in $1: x]", "any"],
    ["[for k, v in $1: [k, v]]", "any"],
    ["[for x in $1: x if x != $2]", "any", "any"],
    ["values($1)", "object"],
    ["keys($1)", "object"],
    ["slice($1, 0, 1)", "tuple"],
    ["reverse($1)", "tuple"],
    ["var.objs[*].name"],
    ["values($1)[*]", "object"],
    ["$1 ? $2 : $3", "bool", "tuple", "tuple"],
    ["[$1][*].a", "object"],
    ["setproduct($1, $2)", "tuple", "tuple"],
    ['regex("(.)(.)?", $1)', "string"],
    ["jsondecode(jsonencode($1))", "any"],
    ["[for x in [$1, $2]: try(x.a, x)]", "object", "object"],
  ],
  object: [
    ["{a = $1, b = $2}", "any", "any"],
    ['{"a b" = $1, ("c$${$2}") = 1}', "any", "number"],
    ["merge($1, $2)", "object", "object"],
    ["merge($1, $2)", "map", "object"],
    ["{for k, v in $1: k => [v]}", "object"],
    ["{for i, v in $1: i => v}", "tuple"],
    ['zipmap(["a", "b"], [$1, $2])', "any", "any"],
    ["$1 ? $2 : $3", "bool", "object", "object"],
    ["jsondecode(jsonencode($1))", "object"],
    ['{for k, v in $1: k => v if k != "a"}', "object"],
    ['{for x in $1: "k$${x}" => x...}', "numbers"],
    ['regex("(?P<first>.)(?P<rest>.*)", $1)', "string"],
  ],
};

function codeOf(kind: Kind, depth: number, made: Map<string, Code>): Code {
  const key = `${kind}/${depth}`;
  const before = made.get(key);
  if (before !== undefined) return before;
  const leaves = fc.constantFrom(...LEAVES[kind]);
  if (depth === 0) {
    made.set(key, leaves);
    return leaves;
  }
  const anything = () => fc.oneof(...KINDS.map((one) => codeOf(one, depth - 1, made)));
  const rules = RULES[kind].map(([pattern, ...parts]) =>
    fc
      .tuple(...parts.map((part) => (part === "any" ? anything() : codeOf(part, depth - 1, made))))
      .map((codes) =>
        pattern.replace(/\$(\$|[1-3])/g, (_, digit: string) =>
          digit === "$" ? "$" : braced(codes[Number(digit) - 1] ?? ""),
        ),
      ),
  );
  const code = fc.oneof(
    { arbitrary: leaves, weight: Math.ceil(rules.length / 4) },
    ...rules.map((arbitrary) => ({ arbitrary, weight: 1 })),
  );
  made.set(key, code);
  return code;
}

/** Puts an operation in brackets. */
const braced = (code: string): string => (/ [-+*/%=!<>&|?]+ |^[-!{]/.test(code) ? `(${code})` : code);

/** Returns an expression of any kind, up to this depth. */
export function anyExpression(depth = 3): Code {
  const made = new Map<string, Code>();
  return fc.oneof(...KINDS.map((kind) => codeOf(kind, depth, made)));
}

/** A typical decimal: a price, a rate, an id, a power of ten, or the result of a function or a variable. */
const decimal: Code = fc.oneof(
  fc.tuple(fc.nat(100_000), fc.constantFrom("", ".5", ".18", ".99", ".005", ".1")).map((parts) => parts.join("")),
  fc.tuple(fc.bigInt(0n, 10n ** 40n), fc.nat(60)).map(([digits, shift]) => `${digits}e-${shift}`),
  fc.tuple(fc.bigInt(0n, 10n ** 25n), fc.nat(30)).map(([digits, shift]) => `${digits}e${shift}`),
  fc.constantFrom("0", "1", "3", "1.18", "0.07", "2.5e-8", "9007199254740993", "18446744073709551616"),
  fc.constantFrom("length(var.list)", "var.num", "var.frac", "var.neg", 'parseint("zzzzzzzzzzzzzzzzzz", 36)', '"0.10"'),
);

const STEPS: readonly string[] = [
  ...["$1 + $2", "$1 - $2", "$1 * $2", "$1 / $2", "$1 % $2", "-($1)", "max($1, $2)", "min($1, $2)", "abs($1)"],
  ...[
    "floor($1)",
    "ceil($1)",
    "signum($1)",
    "pow($1, 2)",
    "pow($1, -1)",
    "sum([$1, $2, $1])",
    "tonumber(tostring($1))",
  ],
  ...["jsondecode(jsonencode($1))", "[$1, $2][1]", "sum(range($1, $1 + 3, 0.7))", "$1 < $2 ? $1 : $2", "tonumber($1)"],
];

const RESULTS: readonly string[] = [
  ...["$1", "tostring($1)", "jsonencode([$1])", "$1 == $2", "$1 >= $2", "toset([$1, $2])", "[$2, $1]", '"${$1}%"'],
  ...['format("%v|%s|%d", $1, $2, floor($1))', 'format("%.2f|%.0f|%e|%.30g|%g", $1, $2, $1, $2, $1)', "$1 != $1 + $2"],
  ...['formatlist("%.3f|%q", [$1, $2], $1)', "sort([$1, $2])", "{(tostring($1)) = $2}", "var.list[floor($1) % 4]"],
];

/** Returns random arithmetic whose result is formatted and compared by Terraform's functions. */
export function anyArithmetic(): Code {
  const filled = (patterns: readonly string[], part: Code): Code =>
    fc
      .tuple(fc.constantFrom(...patterns), part, part)
      .map(([pattern, ...parts]) =>
        pattern.replace(/\$([12])/g, (_, digit: string) => braced(parts[Number(digit) - 1] ?? "")),
      );
  const once = fc.oneof(decimal, filled(STEPS, decimal));
  return filled(RESULTS, fc.oneof(once, filled(STEPS, once)));
}
