import { createHash } from 'node:crypto';
import type { Notice } from '../contracts/notice.ts';
import type { NotifyKeyOptions } from '../contracts/notify-options.ts';
import { Problem } from '../contracts/problem.ts';
import type { Destination } from './destinations/destination.ts';
import type { Message } from './domain/message.ts';
import type { Plan } from './domain/rules.ts';
import { selectDestinations, type TagExpression } from './domain/tags.ts';
import { readDestination, type Entry, type ReadKey, type TaggedDestination } from './read-key.ts';
import { idOf } from './sealed-destinations.ts';

/** A key as it is used: what it amounts to and what its owner chose for it. */
export interface Key extends ReadKey {
  readonly options: NotifyKeyOptions;
}

/** A destination a notice goes to. */
export type Chosen = Pick<TaggedDestination, 'destination' | 'rules'>;
/** The same with the time of its delivery. */
export interface Planned {
  /** Id of the destination. */
  readonly delivery: string;
  readonly destination: Destination;
  readonly plan: Plan;
}

/** The destinations of a key a call reaches. */
export function chosenOf(key: Key, expression: TagExpression | undefined): readonly Entry[] {
  return selectDestinations(key.entries, expression, key.options.withoutTag);
}

/** By id, so that a destination that is matched twice gets one message. */
export function chooseParts(chosen: readonly TaggedDestination[]): Map<string, Chosen> {
  const parts = chosen.flatMap(({ destination, rules }) =>
    (destination.parts ?? [destination]).map((part) => ({ destination: part, rules })),
  );
  return new Map(parts.map((part) => [idOf(part.destination), part]));
}

/** A notice as it is kept and sent. */
export function messageOf(id: string, notice: Notice, time: number, hops: number): Message {
  const { title, body, type, format, tags, link, source } = notice;
  const kept = { id, title: withoutNul(title), body: withoutNul(body), type, format, tags, link, source, time };
  return hops === 0 ? kept : { ...kept, hops };
}

/** PostgreSQL takes no NUL in text, and nobody can read one. */
function withoutNul(text: string): string {
  return text.replaceAll('\u0000', '');
}

/** What makes two notices the same. */
export function fingerprintOf(configuration: string, message: Message, planned: readonly Planned[]): string {
  const ids = planned.map(({ delivery }) => delivery).toSorted();
  const { title, body, type, link } = message;
  return createHash('sha256')
    .update(JSON.stringify([configuration, title, body, type, link, ids]))
    .digest('base64url');
}

/** By id, what addresses stand for. @throws Problem `notify.bad_url` (400) */
export function namedBy(urls: readonly string[]): Map<string, Chosen> {
  return chooseParts(
    urls.map((url) => {
      const read = readDestination(url);
      if (typeof read !== 'string') return { ...read, tags: [] };
      throw new Problem('notify.bad_url', 400, `The destination cannot be used: ${read}`);
    }),
  );
}
