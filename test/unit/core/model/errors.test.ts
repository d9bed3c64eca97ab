import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fileFailure, NotUtf8, reasonOf, utf8 } from "../../../../src/core/model/index.ts";
import { diagnosticsOf } from "../../../../src/project/failure.ts";

const system = (code: string) => Object.assign(new Error(`${code}: refused, write`), { code });

describe("an unexplained error", () => {
  it.each(["ENOSPC", "EDQUOT", "EFBIG", "EIO", "EROFS", "EACCES", "EPERM"])(
    "is no defect of hostform when the machine refuses a file (%s)",
    (code) => {
      const [diagnostic] = diagnosticsOf(system(code));
      expect(diagnostic).toMatchObject({ code: "file.refused", detail: `${code}: refused, write` });
      expect(diagnostic?.summary).toMatch(/^A file cannot be read or written: [a-z]/);
    },
  );

  it.each([new Error("defect"), system("ENOENT"), "text"])("is a defect unless the file system failed: %s", (error) => {
    expect(diagnosticsOf(error)[0]?.code).toBe("internal");
  });

  it("names the position of bytes that are not UTF-8", () => {
    expect(diagnosticsOf(notUtf8([0x61, 0x0a, 0x62, 0xff]))[0]?.summary).toContain("(line 2, column 2)");
  });
});

describe("the reason for a failed file operation", () => {
  it.each([
    ["ENOSPC", "no space is left on the disk (ENOSPC)"],
    ["ENOENT", "there is no such file or folder"],
    ["EUNKNOWN", "EUNKNOWN"],
  ])("%s", (code, words) => expect(fileFailure(system(code))).toBe(words));

  it("is the error itself if the file system did not fail", () => {
    const error = new Error("defect");
    expect(() => fileFailure(error)).toThrow(error);
  });
});

function notUtf8(bytes: readonly number[]): unknown {
  try {
    return utf8(Uint8Array.from(bytes));
  } catch (error) {
    return error;
  }
}

describe("the reason of a system error", () => {
  it.each([
    [system("ENOSPC"), "ENOSPC: refused, write"],
    [Object.assign(new Error("refused"), { code: "ECONNREFUSED" }), "ECONNREFUSED: refused"],
    [Object.assign(new Error(""), { code: "ECONNREFUSED" }), "ECONNREFUSED"],
  ])("has the code and the words of the system: %s", (error, expected) => {
    expect(reasonOf(error)).toBe(expected);
  });
});

describe("bytes that are decoded as UTF-8", () => {
  it.each([
    ["Latin-1 in a later line", [...Buffer.from("1001,Acme\r\n1002,Caf"), 0xe9, 0x0a], 2, 9],
    ["a character that is cut off at the end", [0x61, 0xe2, 0x82], 1, 2],
    ["behind U+FFFD itself, which is valid", [...Buffer.from("\uFFFD"), 0xff], 1, 2],
    ["an encoded surrogate", [0xed, 0xa0, 0x80], 1, 1],
  ])("are rejected with their position: %s", (_, bytes, line, column) => {
    expect(notUtf8(bytes)).toMatchObject({ what: "not valid UTF-8", line, column });
  });

  it("are reported as UTF-16 by their byte order mark", () => {
    expect(notUtf8([0xff, 0xfe, 0x31, 0])).toMatchObject({
      what: "not valid UTF-8, but in UTF-16",
      line: 1,
      column: 1,
    });
  });

  it("are rejected exactly if Node adds a replacement character", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const isValid = Buffer.compare(Buffer.from(Buffer.from(bytes).toString("utf8")), bytes) === 0;
        const found = notUtf8([...bytes]);
        expect(found instanceof NotUtf8).toBe(!isValid);
      }),
    );
  });
});
