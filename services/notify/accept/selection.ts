import { createHash } from 'node:crypto';
import type { NotificationContent } from '../../contracts/notify/notification.ts';
import type { NotifyKeyOptions } from '../../contracts/notify/options.ts';
import { Problem } from '../../contracts/problem.ts';
import type { CallOptions, PlannedDelivery } from '../deliver/planned-delivery.ts';
import { planEscalation, findRetries } from '../domain/escalation.ts';
import type { EngineDestinations } from '../apprise/destinations.ts';
import type { Message } from '../domain/message.ts';
import { selectDestinations, type TagExpression } from '../domain/tags.ts';
import { readDestinations, type Entry, type ParsedKey, type TaggedDestination } from '../keys/read-key.ts';
import { getDestinationId } from '../keys/sealed-destinations.ts';

/** Parsed key with its options. */
export interface Key extends ParsedKey {
  readonly options: NotifyKeyOptions;
  /** Secret with which programs sign their posts to the key. */
  readonly secret: string | undefined;
}

/** Selected destination with its options. */
export type Selection = Pick<TaggedDestination, 'destination' | 'rules'> & CallOptions;

/** Returns the destinations of a key that a call selects. */
export function selectDeliveries(key: Key, expression: TagExpression | undefined): readonly (Entry & CallOptions)[] {
  const entries = selectDestinations(key.entries, expression, key.options.withoutTag);
  const chainLevels = planEscalation(entries, expression);
  return entries.map((entry, index) => ({
    ...entry,
    chainLevel: chainLevels[index],
    retries: findRetries(entry.tags, expression),
  }));
}

/**
 * Groups the selected destinations by ID, so that a destination that is matched twice gets one message. If it is in
 * two levels, the lower level applies.
 */
export function collectSelections(chosen: readonly (TaggedDestination & CallOptions)[]): Map<string, Selection> {
  const selections = new Map<string, Selection>();
  for (const { destination, rules, chainLevel, retries } of chosen) {
    for (const receiver of destination.parts ?? [destination]) {
      const id = getDestinationId(receiver);
      const existing = selections.get(id);
      if (existing !== undefined && (existing.chainLevel?.level ?? 0) <= (chainLevel?.level ?? 0)) continue;
      selections.set(id, { destination: receiver, rules, chainLevel, retries });
    }
  }
  return selections;
}

/** Builds the message that is stored and sent. */
export function buildMessage(id: string, notification: NotificationContent, time: number, hops: number): Message {
  const { title, body, type, format, tags, link, source } = notification;
  const content = { id, title: sanitizeText(title), body: sanitizeText(body), type, format, tags, link, source, time };
  const forwardedHops = Math.max(hops, notification.hops ?? 0);
  return forwardedHops === 0 ? content : { ...content, hops: forwardedHops };
}

/** Removes NUL characters, which PostgreSQL rejects in text, and lone surrogates, which some services reject. */
function sanitizeText(text: string): string {
  return text.replaceAll('\u0000', '').toWellFormed();
}

/** Returns a hash that is equal for notifications with the same content and destinations. */
export function computeFingerprint(
  configuration: string,
  message: Message,
  planned: readonly PlannedDelivery[],
): string {
  const ids = planned.map(({ delivery }) => delivery).toSorted();
  const { title, body, type, link } = message;
  return createHash('sha256')
    .update(JSON.stringify([configuration, title, body, type, link, ids]))
    .digest('base64url');
}

/**
 * Returns the destinations of URLs by ID.
 *
 * @throws Problem `notify.bad_url` (400), `notify.needs_engine` (503, may be retried).
 */
export async function selectUrls(urls: readonly string[], engine: EngineDestinations): Promise<Map<string, Selection>> {
  const destinations = await readDestinations(urls, engine);
  return collectSelections(
    destinations.map((result) => {
      if (!('reason' in result)) return { ...result, tags: [] };
      const { reason, needsEngine } = result;
      if (needsEngine) throw new Problem('notify.needs_engine', 503, reason);
      throw new Problem('notify.bad_url', 400, reason);
    }),
  );
}
