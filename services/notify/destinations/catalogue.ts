import { createHash } from 'node:crypto';
import type { Destination, DestinationKind } from './destination.ts';
import { inboxKind } from './inbox.ts';
import { jsonKind } from './json.ts';
import { ntfyKind } from './ntfy.ts';
import { pushKind } from './push.ts';
import { parseDestinationUrl } from './url.ts';

/** Every kind of destination that is served; a new one is a file here and a line in this list. */
export const kinds: readonly DestinationKind[] = [inboxKind, pushKind, jsonKind, ntfyKind];

const byScheme = new Map(
  kinds.flatMap((kind) => [...kind.protocols, ...kind.secureProtocols].map((scheme) => [scheme, kind] as const)),
);

/** Label of a service in the metrics. */
export function labelOf(service: string): string {
  return kinds.find((kind) => kind.service === service)?.label ?? 'other';
}

/** The destination a URL names, or a sentence that says why there is none. The sentence holds nothing of the URL. */
export function parseDestination(text: string): Destination | string {
  const url = parseDestinationUrl(text);
  if (url === undefined) return 'it is no destination URL';
  const kind = byScheme.get(url.scheme);
  return kind === undefined ? `${url.scheme}:// is not served` : kind.parse(url);
}

/** Stable identity of a destination: the same URL has the same one everywhere. */
export function destinationId(destination: Destination): string {
  return createHash('sha256').update(destination.url(false)).digest('hex').slice(0, 16);
}
