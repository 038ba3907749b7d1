/** Lets the browser save a file. Large responses are on its disk, not in memory. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download has started by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
