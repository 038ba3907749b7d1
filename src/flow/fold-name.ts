/** A name as names are compared: two that differ by case only, or by how their accents are written, are one. */
export const foldName = (name: string): string => name.normalize("NFC").toLowerCase();
