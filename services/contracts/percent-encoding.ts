/** Decodes percent-encoded text. Returns undefined when it is not valid percent-encoding of UTF-8. */
export function decodePercentEncoding(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
