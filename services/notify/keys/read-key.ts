import type { NotifyKey } from '../../contracts/notify/api.ts';
import { destinationId, parseDestination } from '../destinations/catalogue.ts';
import type { Destination } from '../destinations/destination.ts';
import { toStandardText } from '../destinations/standard-url.ts';
import type { IsAllowed } from '../destinations/service-filter.ts';

import { needsEngine, type EngineDestinations } from '../apprise/destinations.ts';
import { parseConfiguration } from '../domain/parse-configuration.ts';
import { extractRules, withRules, type DeliveryRules } from '../domain/delivery-rules.ts';
import type { Tag } from '../domain/tags.ts';
import type { WrittenConfiguration } from '../store/configurations.ts';

/** Destinations a configuration, or a call that brings its own, may have. */
export const maxDestinations = 1000;

/** A destination with the tags it wears in its configuration. */
export interface TaggedDestination {
  readonly destination: Destination;
  readonly tags: readonly Tag[];
  /** What its owner asks of its deliveries. */
  readonly rules: DeliveryRules;
}

/** A destination of a key with its place in the text. */
export interface Entry extends TaggedDestination {
  readonly line: number;
  /** In YAML: the steps that lead to it. */
  readonly path: readonly (string | number)[] | undefined;
  readonly id: string;
  /** Its rules as they stand in the URL. */
  readonly ruleArguments: readonly string[];
  /** The URL as its owner typed it, with its secrets. */
  readonly typedUrl: string;
  /** The tags its own line names; `tags` has those of its groups too. */
  readonly ownTags: readonly string[];
}

/** The destination an address names, with the rules among its arguments, or a sentence that says why there is none. */
function readDestination(
  address: string,
  engine: EngineDestinations,
): (Pick<TaggedDestination, 'destination' | 'rules'> & { readonly ruleArguments: readonly string[] }) | string {
  const extracted = extractRules(address);
  if (typeof extracted === 'string') return extracted;
  const destination = parseDestination(extracted.url, (url) => engine.parse(url));
  return typeof destination === 'string'
    ? destination
    : { destination, rules: extracted.rules, ruleArguments: extracted.written };
}

/** The same, where the settings serve it. */
export function refuseDisallowed(
  result: ReturnType<typeof readDestination>,
  isServed: IsAllowed,
): ReturnType<typeof readDestination> {
  if (typeof result === 'string' || isServed(result.destination)) return result;
  return `${result.destination.service} is switched off by a setting`;
}

/** The same for several, none of which is in a configuration yet; the engine is asked about those that are not native. */
export async function readDestinations(
  addresses: readonly string[],
  engine: EngineDestinations,
): Promise<readonly ReturnType<typeof readDestination>[]> {
  await engine.describe(withoutRules(addresses), { persist: false });
  return addresses.map((address) => readDestination(address, engine));
}

/** The URLs of a configuration without their rules. */
export function urlsIn({ text, format }: WrittenConfiguration): readonly string[] {
  return withoutRules(parseConfiguration(text, format).entries.map(({ url }) => url));
}

function withoutRules(addresses: readonly string[]): readonly string[] {
  return addresses.map(extractRules).flatMap((extracted) => (typeof extracted === 'string' ? [] : [extracted.url]));
}

/** What a configuration amounts to. */
export interface ParsedKey {
  readonly entries: readonly Entry[];
  /** The lines that do nothing, and why. */
  readonly skipped: NotifyKey['skipped'];
}

/** The destinations of a configuration, each with its line; what cannot be used is named with its reason. */
export async function readKey(ruleArguments: WrittenConfiguration, engine: EngineDestinations): Promise<ParsedKey> {
  await engine.describe(urlsIn(ruleArguments), { persist: true });
  const { text, format } = ruleArguments;
  const { entries, skipped } = parseConfiguration(text, format);
  const skippedLines: NotifyKey['skipped'] = [...skipped];
  const usable: Entry[] = [];
  for (const { url, tags, ownTags, line, path } of entries) {
    const typed = toStandardText(url);
    const result = readDestination(typed, engine);
    if (typeof result === 'string')
      skippedLines.push({ line, reason: result, ...(result === needsEngine ? { needsEngine: true } : {}) });
    else if (usable.length === maxDestinations) {
      skippedLines.push({ line, reason: `only ${maxDestinations} destinations are served` });
    } else
      usable.push({ ...result, tags, line, path, id: destinationId(result.destination), typedUrl: typed, ownTags });
  }
  return { entries: usable, skipped: skippedLines.sort((a, b) => a.line - b.line) };
}

/** The same without what the settings do not serve; those lines do nothing. */
export function removeDisallowed({ entries, skipped }: ParsedKey, isServed: IsAllowed): ParsedKey {
  const skippedLines = entries
    .filter(({ destination }) => !isServed(destination))
    .map(({ line, destination }) => ({ line, reason: `${destination.service} is switched off by a setting` }));
  if (skippedLines.length === 0) return { entries, skipped };
  const lines = [...skipped, ...skippedLines].sort((a, b) => a.line - b.line);
  return { entries: entries.filter(({ destination }) => isServed(destination)), skipped: lines };
}

/** Ids under which deliveries to a destination are kept: one a receiver. */
export function deliveryIds({ destination }: TaggedDestination): readonly string[] {
  return (destination.parts ?? [destination]).map(destinationId);
}

/** The text with the secrets of its destinations masked, for showing; of YAML what it amounts to, as TEXT. */
export async function maskedText(configuration: WrittenConfiguration, engine: EngineDestinations): Promise<string> {
  const { entries, skipped } = await readKey(configuration, engine);
  const lines = new Map(entries.map((entry) => [entry.line, formatStatement(entry)]));
  if (configuration.format === 'yaml') return entries.map((entry) => `${formatStatement(entry)}\n`).join('');
  const skippedLines = new Set(skipped.map(({ line }) => line));
  return configuration.text
    .split(/\r\n|\n|\r/)
    .map(
      // A line that is no destination may be one with a mistake, so it may hold a secret as well.
      (line, index) => lines.get(index + 1) ?? (skippedLines.has(index + 1) ? '# (a line that cannot be read)' : line),
    )
    .join('\n');
}

function formatStatement({ ownTags, destination, ruleArguments }: Entry): string {
  return `${ownTags.join(',')}${ownTags.length === 0 ? '' : '='}${withRules(destination.url(true), ruleArguments)}`;
}
