import { matchesTag, type Tag, type TagExpression } from './tags.ts';

/** Position of a destination in an escalation. Chains are independent; each starts at its lowest level. */
export interface ChainLevel {
  /** Number of the chain in its call. */
  readonly chain: number;
  readonly level: number;
}

/** Maximum number of retries that a call may request, the same as for a URL. */
const maxRetries = 10;

function disablesEscalation(expression: TagExpression): boolean {
  return expression.flat().some(({ name, level }) => level !== undefined || name === 'all');
}

/**
 * Returns the single-tag alternative that selected a destination and its level there; otherwise the lowest level of
 * its requested tags.
 */
function getChainLevel(tags: readonly Tag[], expression: TagExpression): ChainLevel {
  const chain = expression.findIndex(
    ([requestedTag, ...more]) => requestedTag !== undefined && more.length === 0 && matchesTag(tags, requestedTag),
  );
  const names = chain === -1 ? expression.flat() : (expression[chain] ?? []);
  const levels = tags.filter((tag) => names.some(({ name }) => name === tag.name)).map(({ level = 0 }) => level);
  return { chain, level: Math.min(...(levels.length === 0 ? [0] : levels)) };
}

/**
 * Plans an escalation as Apprise does: each alternative of one tag is a chain, and combinations of tags form another
 * one. Destinations without an escalation are undefined: those of chains with one level, of calls that name a level,
 * and of calls for all destinations.
 */
export function planEscalation(
  destinations: readonly { readonly tags: readonly Tag[] }[],
  expression: TagExpression | undefined,
): readonly (ChainLevel | undefined)[] {
  if (expression === undefined || disablesEscalation(expression)) return destinations.map(() => undefined);
  const chainLevels = destinations.map(({ tags }) => getChainLevel(tags, expression));
  const levels = Map.groupBy(chainLevels, ({ chain }) => chain);
  const multiLevelChains = new Set(
    [...levels].filter(([, of]) => new Set(of.map(({ level }) => level)).size > 1).map(([chain]) => chain),
  );
  return chainLevels.map((chainLevel) => (multiLevelChains.has(chainLevel.chain) ? chainLevel : undefined));
}

/**
 * Returns the number of retries that a call requests for a destination: that of the first matching tag with a number.
 */
export function findRetries(tags: readonly Tag[], expression: TagExpression | undefined): number | undefined {
  const requestedTag = expression?.flat().find((tag) => tag.retries !== undefined && matchesTag(tags, tag));
  return requestedTag?.retries === undefined ? undefined : Math.min(requestedTag.retries, maxRetries);
}
