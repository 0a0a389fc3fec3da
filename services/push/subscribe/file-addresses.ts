/** How the addresses of files begin in the messages that are kept, and how for somebody who reaches this server elsewhere. */
export interface Outside {
  readonly kept: string;
  readonly seen: string;
}

/** Undefined where both are the same, or where nobody knows one of them. */
export function outsideOf(kept: string | undefined, seen: string | undefined): Outside | undefined {
  if (kept === undefined || seen === undefined || kept === seen) return undefined;
  return { kept: fieldOf(kept), seen: fieldOf(seen) };
}

/** A message's JSON as somebody outside has to read it. A quotation mark in a text has a backslash before it, so that only fields are met. */
export function seenFrom(text: string, outside: Outside | undefined): string {
  return outside === undefined ? text : text.replaceAll(outside.kept, outside.seen);
}

function fieldOf(base: string): string {
  return `"url":${JSON.stringify(`${base}/file/`).slice(0, -1)}`;
}
