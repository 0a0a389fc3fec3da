import * as texts from '#messages/notify-texts';
import * as m from '#messages/notify-problems';
import type { NotifyKey } from '../../contracts/notify/api.ts';
import { destinationId, parseDestination } from '../destinations/catalogue.ts';
import type { Destination } from '../destinations/destination.ts';
import { toStandardText } from '../destinations/standard-url.ts';
import type { IsAllowed } from '../destinations/service-filter.ts';

import type { EngineDestinations } from '../apprise/destinations.ts';
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

/** Parsed URL of a destination. */
type ParsedDestination = Pick<TaggedDestination, 'destination' | 'rules'> & {
  readonly ruleArguments: readonly string[];
};

/** Reason why a URL has no usable destination. */
export interface UnusableDestination {
  readonly reason: string;
  /** True if the URL can be used after the installation of the Apprise engine. */
  readonly needsEngine: boolean;
}

/** Parses the destination of a URL with its delivery rules. */
function readDestination(address: string, engine: EngineDestinations): ParsedDestination | UnusableDestination {
  const extracted = extractRules(address);
  if (typeof extracted === 'string') return { reason: extracted, needsEngine: false };
  const destination = parseDestination(extracted.url, (url) => engine.parse(url));
  if (typeof destination === 'string') return { reason: destination, needsEngine: engine.isMissingFor(extracted.url) };
  return { destination, rules: extracted.rules, ruleArguments: extracted.written };
}

/** Replaces a destination that the settings do not allow by a reason. */
export function refuseDisallowed(
  result: ParsedDestination | UnusableDestination,
  isAllowed: IsAllowed,
): ParsedDestination | UnusableDestination {
  if ('reason' in result || isAllowed(result.destination)) return result;
  return { reason: m.typeDisabled({ service: result.destination.service }), needsEngine: false };
}

/** Parses URLs that are not in a configuration yet; URLs that are not native are parsed by the engine. */
export async function readDestinations(
  addresses: readonly string[],
  engine: EngineDestinations,
): Promise<readonly (ParsedDestination | UnusableDestination)[]> {
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
    if ('reason' in result) {
      const { reason, needsEngine } = result;
      skippedLines.push({ line, reason, ...(needsEngine ? { needsEngine } : {}) });
    } else if (usable.length === maxDestinations) {
      skippedLines.push({ line, reason: m.tooManyLines({ limit: maxDestinations }) });
    } else
      usable.push({ ...result, tags, line, path, id: destinationId(result.destination), typedUrl: typed, ownTags });
  }
  return { entries: usable, skipped: skippedLines.sort((a, b) => a.line - b.line) };
}

/** Removes destinations that the settings do not allow; their lines are listed as skipped. */
export function removeDisallowed({ entries, skipped }: ParsedKey, isAllowed: IsAllowed): ParsedKey {
  const skippedLines = entries
    .filter(({ destination }) => !isAllowed(destination))
    .map(({ line, destination }) => ({ line, reason: m.typeDisabled({ service: destination.service }) }));
  if (skippedLines.length === 0) return { entries, skipped };
  const lines = [...skipped, ...skippedLines].sort((a, b) => a.line - b.line);
  return { entries: entries.filter(({ destination }) => isAllowed(destination)), skipped: lines };
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
      (line, index) => lines.get(index + 1) ?? (skippedLines.has(index + 1) ? `# ${texts.unreadableLine()}` : line),
    )
    .join('\n');
}

function formatStatement({ ownTags, destination, ruleArguments }: Entry): string {
  return `${ownTags.join(',')}${ownTags.length === 0 ? '' : '='}${withRules(destination.url(true), ruleArguments)}`;
}
