/** Prefixes of file addresses in stored messages, and as a client with another address must see them. */
export interface FileAddressRewrite {
  readonly stored: string;
  readonly visible: string;
}

/** Returns undefined when both addresses are equal or one is unknown. */
export function createFileAddressRewrite(
  storedBase: string | undefined,
  visibleBase: string | undefined,
): FileAddressRewrite | undefined {
  if (storedBase === undefined || visibleBase === undefined || storedBase === visibleBase) return undefined;
  return { stored: toUrlField(storedBase), visible: toUrlField(visibleBase) };
}

/** Rewrites file addresses in the JSON of a message. Quotes inside of a text are escaped, so only fields match. */
export function rewriteFileAddresses(text: string, rewrite: FileAddressRewrite | undefined): string {
  return rewrite === undefined ? text : text.replaceAll(rewrite.stored, rewrite.visible);
}

function toUrlField(base: string): string {
  return `"url":${JSON.stringify(`${base}/file/`).slice(0, -1)}`;
}
