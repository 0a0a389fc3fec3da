import { createHash } from 'node:crypto';
import type { NotificationContent } from '../../contracts/notify/notification.ts';
import type { NotifyKeyOptions } from '../../contracts/notify/options.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Destination } from '../destinations/destination.ts';
import { planEscalation, findRetries, type ChainLevel } from '../domain/escalation.ts';
import { needsEngine, type EngineDestinations } from '../apprise/destinations.ts';
import type { Message } from '../domain/message.ts';
import type { DeliveryPlan } from '../domain/delivery-rules.ts';
import { selectDestinations, type TagExpression } from '../domain/tags.ts';
import { readDestinations, type Entry, type ParsedKey, type TaggedDestination } from '../keys/read-key.ts';
import { getDestinationId } from '../keys/sealed-destinations.ts';

/** A key as it is used: what it amounts to and what its owner chose for it. */
export interface Key extends ParsedKey {
  readonly options: NotifyKeyOptions;
  /** What programs sign with that post to it. */
  readonly secret: string | undefined;
}

/** What a call asks of a destination besides the sending. */
export interface CallOptions {
  /** Where it stands in an escalation. */
  readonly chainLevel?: ChainLevel | undefined;
  /** Tries besides the first, in place of what its URL says. */
  readonly retries?: number | undefined;
}

/** A destination a notice goes to. */
export type Selection = Pick<TaggedDestination, 'destination' | 'rules'> & CallOptions;
/** The same with the time of its delivery. */
export interface PlannedDelivery extends CallOptions {
  /** Id of the destination. */
  readonly delivery: string;
  readonly destination: Destination;
  readonly plan: DeliveryPlan;
  /** Its destination takes so many in a time and no more. */
  readonly countsAgainstRate: boolean;
}

/** The destinations of a key a call reaches. */
export function selectDeliveries(key: Key, expression: TagExpression | undefined): readonly (Entry & CallOptions)[] {
  const entries = selectDestinations(key.entries, expression, key.options.withoutTag);
  const chainLevels = planEscalation(entries, expression);
  return entries.map((entry, index) => ({
    ...entry,
    chainLevel: chainLevels[index],
    retries: findRetries(entry.tags, expression),
  }));
}

/** By id, so that a destination that is matched twice gets one message; of two levels it has the first that is asked. */
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

/** A notice as it is kept and sent. */
export function buildMessage(id: string, notice: NotificationContent, time: number, hops: number): Message {
  const { title, body, type, format, tags, link, source } = notice;
  const content = { id, title: sanitizeText(title), body: sanitizeText(body), type, format, tags, link, source, time };
  const passed = Math.max(hops, notice.hops ?? 0);
  return passed === 0 ? content : { ...content, hops: passed };
}

/** PostgreSQL takes no NUL in text, and nobody can read one; half a character makes some services refuse the whole. */
function sanitizeText(text: string): string {
  return text.replaceAll('\u0000', '').toWellFormed();
}

/** What makes two notices the same. */
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

/** By id, what addresses stand for. @throws Problem `notify.bad_url` (400), `notify.needs_engine` (503), which may pass. */
export async function selectUrls(urls: readonly string[], engine: EngineDestinations): Promise<Map<string, Selection>> {
  const destinations = await readDestinations(urls, engine);
  return collectSelections(
    destinations.map((result) => {
      if (typeof result !== 'string') return { ...result, tags: [] };
      if (result === needsEngine) throw new Problem('notify.needs_engine', 503, `The destination waits: ${result}.`);
      throw new Problem('notify.bad_url', 400, `The destination cannot be used: ${result}`);
    }),
  );
}
