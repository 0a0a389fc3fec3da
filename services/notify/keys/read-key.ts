import type { NotifyKey } from '../../contracts/notify/api.ts';
import { destinationId, parseDestination } from '../destinations/catalogue.ts';
import type { Destination } from '../destinations/destination.ts';
import { plainText } from '../destinations/standard-url.ts';
import type { IsServed } from '../destinations/service-filter.ts';

import { needsEngine, type EngineDestinations } from '../apprise/destinations.ts';
import { parseConfiguration } from '../domain/parse-configuration.ts';
import { takeRules, withRules, type Rules } from '../domain/delivery-rules.ts';
import type { Tag } from '../domain/tags.ts';
import type { WrittenConfiguration } from '../store/configurations.ts';

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
function readDestination(
  address: string,
  engine: EngineDestinations,
): (Pick<TaggedDestination, 'destination' | 'rules'> & { readonly written: readonly string[] }) | string {
  const taken = takeRules(address);
  if (typeof taken === 'string') return taken;
  const destination = parseDestination(taken.url, (url) => engine.find(url));
  return typeof destination === 'string' ? destination : { destination, rules: taken.rules, written: taken.written };
}

/** The same, where the settings serve it. */
export function whereServed(
  read: ReturnType<typeof readDestination>,
  isServed: IsServed,
): ReturnType<typeof readDestination> {
  if (typeof read === 'string' || isServed(read.destination)) return read;
  return `${read.destination.service} is switched off by a setting`;
}

/** The same for several, none of which is in a configuration yet; the engine is asked about those that are not native. */
export async function readDestinations(
  addresses: readonly string[],
  engine: EngineDestinations,
): Promise<readonly ReturnType<typeof readDestination>[]> {
  await engine.learn(withoutRules(addresses), { keep: false });
  return addresses.map((address) => readDestination(address, engine));
}

/** The URLs of a configuration without their rules. */
export function urlsIn({ text, format }: WrittenConfiguration): readonly string[] {
  return withoutRules(parseConfiguration(text, format).entries.map(({ url }) => url));
}

function withoutRules(addresses: readonly string[]): readonly string[] {
  return addresses.map(takeRules).flatMap((taken) => (typeof taken === 'string' ? [] : [taken.url]));
}

/** What a configuration amounts to. */
export interface ReadKey {
  readonly entries: readonly Entry[];
  /** The lines that do nothing, and why. */
  readonly skipped: NotifyKey['skipped'];
}

/** The destinations of a configuration, each with its line; what cannot be used is named with its reason. */
export async function readKey(written: WrittenConfiguration, engine: EngineDestinations): Promise<ReadKey> {
  await engine.learn(urlsIn(written), { keep: true });
  const { text, format } = written;
  const { entries, skipped } = parseConfiguration(text, format);
  const useless: NotifyKey['skipped'] = [...skipped];
  const usable: Entry[] = [];
  for (const { url, tags, own, line, path } of entries) {
    const typed = plainText(url);
    const read = readDestination(typed, engine);
    if (typeof read === 'string')
      useless.push({ line, reason: read, ...(read === needsEngine ? { needsEngine: true } : {}) });
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
export async function maskedText(configuration: WrittenConfiguration, engine: EngineDestinations): Promise<string> {
  const { entries, skipped } = await readKey(configuration, engine);
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
