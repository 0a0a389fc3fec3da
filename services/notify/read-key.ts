import type { NotifyKey } from '../contracts/notify-api.ts';
import type { TaggedDestination } from './aggregator.ts';
import { destinationId, parseDestination } from './destinations/catalogue.ts';
import { parseTextConfiguration } from './domain/configuration.ts';
import { tagsOfLine } from './domain/edit.ts';

/** A destination of a key with its place in the text. */
export interface Entry extends TaggedDestination {
  readonly line: number;
  readonly id: string;
  /** The URL as its owner typed it, with its secrets. */
  readonly typed: string;
  /** The tags its own line names; `tags` has those of its groups too. */
  readonly own: readonly string[];
}

/** The destinations of a key's text, each with its line; what cannot be used is named with its reason. */
export function readKey(text: string): {
  readonly entries: readonly Entry[];
  readonly skipped: NotifyKey['skipped'];
} {
  const { entries, skipped } = parseTextConfiguration(text);
  const useless: NotifyKey['skipped'] = [...skipped];
  const usable = entries.flatMap(({ url: typed, tags, line }): Entry[] => {
    const destination = parseDestination(typed);
    if (typeof destination === 'string') {
      useless.push({ line, reason: destination });
      return [];
    }
    return [{ destination, tags, line, id: destinationId(destination), typed, own: tagsOfLine(text, line) }];
  });
  return { entries: usable, skipped: useless.sort((a, b) => a.line - b.line) };
}

/** Ids under which deliveries to a destination are kept: one a receiver. */
export function deliveryIds({ destination }: TaggedDestination): readonly string[] {
  return (destination.parts ?? [destination]).map(destinationId);
}

/** The text with the secrets of its destinations masked, for showing. */
export function maskedText(text: string): string {
  const { entries, skipped } = readKey(text);
  const urls = new Map(entries.map((entry) => [entry.line, entry]));
  const useless = new Set(skipped.map(({ line }) => line));
  return text
    .split(/\r\n|\n|\r/)
    .map((line, index) => {
      const entry = urls.get(index + 1);
      // A line that is no destination may be one with a mistake, so it may hold a secret as well.
      if (entry === undefined) return useless.has(index + 1) ? '# (a line that cannot be read)' : line;
      const names = entry.own.join(',');
      return `${names}${names === '' ? '' : '='}${entry.destination.url(true)}`;
    })
    .join('\n');
}
