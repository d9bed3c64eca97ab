import { describe, expect, test } from "vitest";
import { stateFolder } from "../../../../src/core/local/index.ts";

describe("the user's state folder", () => {
  const table: { why: string; platform: string; env: Record<string, string>; folder: string | undefined }[] = [
    {
      why: "the variable decides",
      platform: "linux",
      env: { HOSTFORM_STATE_HOME: "/srv/hostform", XDG_STATE_HOME: "/x", HOME: "/home/ada" },
      folder: "/srv/hostform",
    },
    {
      why: "the place of the XDG specification",
      platform: "linux",
      env: { XDG_STATE_HOME: "/x/state", HOME: "/home/ada" },
      folder: "/x/state/hostform",
    },
    {
      why: "a relative one is to be ignored",
      platform: "linux",
      env: { XDG_STATE_HOME: "state", HOME: "/home/ada" },
      folder: "/home/ada/.local/state/hostform",
    },
    { why: "its default", platform: "linux", env: { HOME: "/home/ada" }, folder: "/home/ada/.local/state/hostform" },
    { why: "no home", platform: "linux", env: {}, folder: undefined },
    { why: "an empty variable is one that is not set", platform: "linux", env: { HOME: "" }, folder: undefined },
    {
      why: "macOS",
      platform: "darwin",
      env: { HOME: "/Users/ada" },
      folder: "/Users/ada/Library/Application Support/hostform",
    },
    {
      why: "XDG on macOS is set on purpose",
      platform: "darwin",
      env: { XDG_STATE_HOME: "/x", HOME: "/Users/ada" },
      folder: "/x/hostform",
    },
    {
      why: "Windows",
      platform: "win32",
      env: { LOCALAPPDATA: "C:\\Users\\ada\\AppData\\Local", HOME: "/c/Users/ada" },
      folder: "C:\\Users\\ada\\AppData\\Local\\hostform",
    },
    { why: "a Windows service without a profile", platform: "win32", env: {}, folder: undefined },
  ];
  test.each(table)("$platform: $why", ({ env, platform, folder }) => {
    expect(stateFolder(env, platform)).toBe(folder);
  });

  test("that is given relative to the working folder is made absolute", () => {
    expect(stateFolder({ HOSTFORM_STATE_HOME: "state" }, "linux")).toBe(`${process.cwd()}/state`);
  });
});
