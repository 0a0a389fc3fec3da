import type { NotifyKey } from '../contracts/notify-api.ts';
import { destinationId, parseDestination } from './destinations/catalogue.ts';
import type { Destination } from './destinations/destination.ts';
import type { IsServed } from './destinations/served.ts';
import { parseConfiguration } from './domain/formats.ts';
import { takeRules, withRules, type Rules } from './domain/rules.ts';
import type { Tag } from './domain/tags.ts';
import type { WrittenConfiguration } from './store/configurations.ts';

/** Destinations a configuration, or a call that brings its own, may have. */
export const mostDestinations = 1000;

/** A destination with the tags it wears in its configuration. */
export interface TaggedDestination {
  readonly destination: Destination;
  readonly tags: readonly Tag[];
  /** What its owner asks of its deliveries. */
  readonly rules: Rules;
}

/** A destination of a key with its place in the text. */
export interface Entry extends TaggedDestination {
  readonly line: number;
  /** In YAML: the steps that lead to it. */
  readonly path: readonly (string | number)[] | undefined;
  readonly id: string;
  /** Its rules as they stand in the URL. */
  readonly written: readonly string[];
  /** The URL as its owner typed it, with its secrets. */
  readonly typed: string;
  /** The tags its own line names; `tags` has those of its groups too. */
  readonly own: readonly string[];
}

/** The destination an address names, with the rules among its arguments, or a sentence that says why there is none. */
export function readDestination(
  address: string,
): (Pick<TaggedDestination, 'destination' | 'rules'> & { readonly written: readonly string[] }) | string {
  const taken = takeRules(address);
  if (typeof taken === 'string') return taken;
  const destination = parseDestination(taken.url);
  return typeof destination === 'string' ? destination : { destination, rules: taken.rules, written: taken.written };
}

/** The same, where the settings serve it. */
export function readServed(address: string, isServed: IsServed): ReturnType<typeof readDestination> {
  const read = readDestination(address);
  if (typeof read === 'string' || isServed(read.destination)) return read;
  return `${read.destination.service} is switched off by a setting`;
}

/** What a configuration amounts to. */
export interface ReadKey {
  readonly entries: readonly Entry[];
  /** The lines that do nothing, and why. */
  readonly skipped: NotifyKey['skipped'];
}

/** The destinations of a configuration, each with its line; what cannot be used is named with its reason. */
export function readKey({ text, format }: WrittenConfiguration): ReadKey {
  const { entries, skipped } = parseConfiguration(text, format);
  const useless: NotifyKey['skipped'] = [...skipped];
  const usable: Entry[] = [];
  for (const { url: typed, tags, own, line, path } of entries) {
    const read = readDestination(typed);
    if (typeof read === 'string') useless.push({ line, reason: read });
    else if (usable.length === mostDestinations) {
      useless.push({ line, reason: `only ${mostDestinations} destinations are served` });
    } else usable.push({ ...read, tags, line, path, id: destinationId(read.destination), typed, own });
  }
  return { entries: usable, skipped: useless.sort((a, b) => a.line - b.line) };
}

/** The same without what the settings do not serve; those lines do nothing. */
export function servedOnly({ entries, skipped }: ReadKey, isServed: IsServed): ReadKey {
  const useless = entries
    .filter(({ destination }) => !isServed(destination))
    .map(({ line, destination }) => ({ line, reason: `${destination.service} is switched off by a setting` }));
  if (useless.length === 0) return { entries, skipped };
  const lines = [...skipped, ...useless].sort((a, b) => a.line - b.line);
  return { entries: entries.filter(({ destination }) => isServed(destination)), skipped: lines };
}

/** Ids under which deliveries to a destination are kept: one a receiver. */
export function deliveryIds({ destination }: TaggedDestination): readonly string[] {
  return (destination.parts ?? [destination]).map(destinationId);
}

/** The text with the secrets of its destinations masked, for showing; of YAML what it amounts to, as TEXT. */
export function maskedText(configuration: WrittenConfiguration): string {
  const { entries, skipped } = readKey(configuration);
  const lines = new Map(entries.map((entry) => [entry.line, statementOf(entry)]));
  if (configuration.format === 'yaml') return entries.map((entry) => `${statementOf(entry)}\n`).join('');
  const useless = new Set(skipped.map(({ line }) => line));
  return configuration.text
    .split(/\r\n|\n|\r/)
    .map(
      // A line that is no destination may be one with a mistake, so it may hold a secret as well.
      (line, at) => lines.get(at + 1) ?? (useless.has(at + 1) ? '# (a line that cannot be read)' : line),
    )
    .join('\n');
}

function statementOf({ own, destination, written }: Entry): string {
  return `${own.join(',')}${own.length === 0 ? '' : '='}${withRules(destination.url(true), written)}`;
}
