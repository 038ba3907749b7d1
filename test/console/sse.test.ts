import { describe, expect, it } from "@jest/globals";
import { readFrames, type Frame } from "../../console/api/sse.ts";

async function* chunksOf(text: string, size: number): AsyncGenerator<string> {
  for (let start = 0; start < text.length; start += size)
    yield await Promise.resolve(text.slice(start, start + size));
}

async function framesOf(text: string, size = text.length): Promise<Frame[]> {
  const frames: Frame[] = [];
  for await (const frame of readFrames(chunksOf(text, size))) frames.push(frame);
  return frames;
}

const STREAM =
  'retry: 1000\nid: 7\n\nid: 8\nevent: blocked\ndata: {"seq":8}\n\n: keep-alive\nid: 9\n\nid: 10\ndata: cut';

describe("a stream of server-sent events", () => {
  it.each([1, 2, 5, 1_000])("is read the same in chunks of %s characters", async (size) => {
    expect(await framesOf(STREAM, size)).toEqual([
      { id: "7", event: "message", data: "" },
      { id: "8", event: "blocked", data: '{"seq":8}' },
      { id: "9", event: "message", data: "" },
    ]);
  });

  it("joins lines of data and accepts both line ends", async () => {
    expect(await framesOf("data: a\r\ndata:b\r\n\r\n")).toEqual([
      { id: null, event: "message", data: "a\nb" },
    ]);
  });
});
