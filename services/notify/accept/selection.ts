import { createHash } from 'node:crypto';
import type { NotificationContent } from '../../contracts/notify/notification.ts';
import type { NotifyKeyOptions } from '../../contracts/notify/options.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Destination } from '../destinations/destination.ts';
import { planEscalation, retriesOf, type Level } from '../domain/escalation.ts';
import { needsEngine, type EngineDestinations } from '../apprise/destinations.ts';
import type { Message } from '../domain/message.ts';
import type { Plan } from '../domain/delivery-rules.ts';
import { selectDestinations, type TagExpression } from '../domain/tags.ts';
import { readDestinations, type Entry, type ReadKey, type TaggedDestination } from '../keys/read-key.ts';
import { idOf } from '../keys/sealed-destinations.ts';

/** A key as it is used: what it amounts to and what its owner chose for it. */
export interface Key extends ReadKey {
  readonly options: NotifyKeyOptions;
  /** What programs sign with that post to it. */
  readonly secret: string | undefined;
}

/** What a call asks of a destination besides the sending. */
export interface Asked {
  /** Where it stands in an escalation. */
  readonly standing?: Level | undefined;
  /** Tries besides the first, in place of what its URL says. */
  readonly retries?: number | undefined;
}

/** A destination a notice goes to. */
export type Selection = Pick<TaggedDestination, 'destination' | 'rules'> & Asked;
/** The same with the time of its delivery. */
export interface Planned extends Asked {
  /** Id of the destination. */
  readonly delivery: string;
  readonly destination: Destination;
  readonly plan: Plan;
  /** Its destination takes so many in a time and no more. */
  readonly rated: boolean;
}

/** The destinations of a key a call reaches. */
export function selectDeliveries(key: Key, expression: TagExpression | undefined): readonly (Entry & Asked)[] {
  const entries = selectDestinations(key.entries, expression, key.options.withoutTag);
  const standings = planEscalation(entries, expression);
  return entries.map((entry, at) => ({
    ...entry,
    standing: standings[at],
    retries: retriesOf(entry.tags, expression),
  }));
}

/** By id, so that a destination that is matched twice gets one message; of two levels it has the first that is asked. */
export function selectParts(chosen: readonly (TaggedDestination & Asked)[]): Map<string, Selection> {
  const parts = new Map<string, Selection>();
  for (const { destination, rules, standing, retries } of chosen) {
    for (const part of destination.parts ?? [destination]) {
      const id = idOf(part);
      const known = parts.get(id);
      if (known !== undefined && (known.standing?.level ?? 0) <= (standing?.level ?? 0)) continue;
      parts.set(id, { destination: part, rules, standing, retries });
    }
  }
  return parts;
}

/** A notice as it is kept and sent. */
export function messageOf(id: string, notice: NotificationContent, time: number, hops: number): Message {
  const { title, body, type, format, tags, link, source } = notice;
  const kept = { id, title: writable(title), body: writable(body), type, format, tags, link, source, time };
  const passed = Math.max(hops, notice.hops ?? 0);
  return passed === 0 ? kept : { ...kept, hops: passed };
}

/** PostgreSQL takes no NUL in text, and nobody can read one; half a character makes some services refuse the whole. */
function writable(text: string): string {
  return text.replaceAll('\u0000', '').toWellFormed();
}

/** What makes two notices the same. */
export function fingerprintOf(configuration: string, message: Message, planned: readonly Planned[]): string {
  const ids = planned.map(({ delivery }) => delivery).toSorted();
  const { title, body, type, link } = message;
  return createHash('sha256')
    .update(JSON.stringify([configuration, title, body, type, link, ids]))
    .digest('base64url');
}

/** By id, what addresses stand for. @throws Problem `notify.bad_url` (400), `notify.needs_engine` (503), which may pass. */
export async function namedBy(urls: readonly string[], engine: EngineDestinations): Promise<Map<string, Selection>> {
  const destinations = await readDestinations(urls, engine);
  return selectParts(
    destinations.map((read) => {
      if (typeof read !== 'string') return { ...read, tags: [] };
      if (read === needsEngine) throw new Problem('notify.needs_engine', 503, `The destination waits: ${read}.`);
      throw new Problem('notify.bad_url', 400, `The destination cannot be used: ${read}`);
    }),
  );
}
