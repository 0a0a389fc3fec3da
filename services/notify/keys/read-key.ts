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

/** Maximum number of destinations in a configuration or a stateless call. */
export const maxDestinations = 1000;

/** Destination with its effective tags. */
export interface TaggedDestination {
  readonly destination: Destination;
  readonly tags: readonly Tag[];
  /** Delivery rules in its URL. */
  readonly rules: DeliveryRules;
}

/** Destination of a key with its position in the text. */
export interface Entry extends TaggedDestination {
  readonly line: number;
  /** Path in the YAML document. */
  readonly path: readonly (string | number)[] | undefined;
  readonly id: string;
  /** Arguments of the delivery rules, as written in the URL. */
  readonly ruleArguments: readonly string[];
  /** URL as typed, with secrets. */
  readonly typedUrl: string;
  /** Tags of its own line; `tags` also contains those of its groups. */
  readonly ownTags: readonly string[];
}

/** Parses the destination of a URL with its delivery rules, or returns the reason why there is none. */
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

/** Replaces a destination that the settings do not allow by a reason. */
export function refuseDisallowed(
  result: ReturnType<typeof readDestination>,
  isServed: IsAllowed,
): ReturnType<typeof readDestination> {
  if (typeof result === 'string' || isServed(result.destination)) return result;
  return `${result.destination.service} is switched off by a setting`;
}

/** Parses URLs that are not in a configuration yet; the engine is asked about those that are not native. */
export async function readDestinations(
  addresses: readonly string[],
  engine: EngineDestinations,
): Promise<readonly ReturnType<typeof readDestination>[]> {
  await engine.describe(withoutRules(addresses), { persist: false });
  return addresses.map((address) => readDestination(address, engine));
}

/** Returns the URLs of a configuration without their rules. */
export function urlsIn({ text, format }: WrittenConfiguration): readonly string[] {
  return withoutRules(parseConfiguration(text, format).entries.map(({ url }) => url));
}

function withoutRules(addresses: readonly string[]): readonly string[] {
  return addresses.map(extractRules).flatMap((extracted) => (typeof extracted === 'string' ? [] : [extracted.url]));
}

/** Parsed configuration of a key. */
export interface ParsedKey {
  readonly entries: readonly Entry[];
  /** Lines without effect, with their reasons. */
  readonly skipped: NotifyKey['skipped'];
}

/** Parses a configuration. Unusable lines are listed with their reasons. */
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

/** Removes destinations that the settings do not allow; their lines are listed as skipped. */
export function removeDisallowed({ entries, skipped }: ParsedKey, isServed: IsAllowed): ParsedKey {
  const skippedLines = entries
    .filter(({ destination }) => !isServed(destination))
    .map(({ line, destination }) => ({ line, reason: `${destination.service} is switched off by a setting` }));
  if (skippedLines.length === 0) return { entries, skipped };
  const lines = [...skipped, ...skippedLines].sort((a, b) => a.line - b.line);
  return { entries: entries.filter(({ destination }) => isServed(destination)), skipped: lines };
}

/** Returns the IDs of a destination's deliveries: one per receiver. */
export function deliveryIds({ destination }: TaggedDestination): readonly string[] {
  return (destination.parts ?? [destination]).map(destinationId);
}

/** Returns the text with masked secrets. YAML is converted to TEXT. */
export async function maskedText(configuration: WrittenConfiguration, engine: EngineDestinations): Promise<string> {
  const { entries, skipped } = await readKey(configuration, engine);
  const lines = new Map(entries.map((entry) => [entry.line, formatStatement(entry)]));
  if (configuration.format === 'yaml') return entries.map((entry) => `${formatStatement(entry)}\n`).join('');
  const skippedLines = new Set(skipped.map(({ line }) => line));
  return configuration.text
    .split(/\r\n|\n|\r/)
    .map(
      // An unusable line may be a mistyped destination that contains a secret.
      (line, index) => lines.get(index + 1) ?? (skippedLines.has(index + 1) ? '# (a line that cannot be read)' : line),
    )
    .join('\n');
}

function formatStatement({ ownTags, destination, ruleArguments }: Entry): string {
  return `${ownTags.join(',')}${ownTags.length === 0 ? '' : '='}${withRules(destination.url(true), ruleArguments)}`;
}
