import { describe, expect, it } from "@jest/globals";
import { findConflicts, SHORTCUTS, type Shortcut } from "../../console/keyboard/shortcuts.ts";

const shortcut = (keys: string, scope: Shortcut["scope"]): Shortcut => ({ keys: [keys], label: keys, scope });

describe("the shortcuts", () => {
  it("have keys of their own on every page", () => {
    expect(findConflicts(SHORTCUTS)).toEqual([]);
  });

  it.each([
    ["the same key on one screen", "m", "board", "m", "board", 1],
    ["a key that applies everywhere", "m", "everywhere", "m", "board", 1],
    ["a key that begins another one's two", "g", "board", "g b", "everywhere", 1],
    ["the same key on two screens", "m", "board", "m", "card", 0],
    ["two keys that begin alike", "g b", "everywhere", "g i", "everywhere", 0],
  ] as const)("are compared: %s", (_, one, oneScope, other, otherScope, count) => {
    expect(findConflicts({ one: shortcut(one, oneScope), other: shortcut(other, otherScope) })).toHaveLength(
      count,
    );
  });
});
