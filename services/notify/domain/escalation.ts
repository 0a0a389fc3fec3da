import { matchesTag, type Tag, type TagExpression } from './tags.ts';

/** Where a destination stands in an escalation. Chains go on independently, each from its lowest level. */
export interface ChainLevel {
  /** Number of the chain in its call. */
  readonly chain: number;
  readonly level: number;
}

/** Retries a call may ask for, as many as a URL may. */
const maxRetries = 10;

function disablesEscalation(expression: TagExpression): boolean {
  return expression.flat().some(({ name, level }) => level !== undefined || name === 'all');
}

/** The alternative that chose a destination by one tag, and the level it has there; else the lowest of the tags that were asked for. */
function getChainLevel(tags: readonly Tag[], expression: TagExpression): ChainLevel {
  const chain = expression.findIndex(
    ([requestedTag, ...more]) => requestedTag !== undefined && more.length === 0 && matchesTag(tags, requestedTag),
  );
  const names = chain === -1 ? expression.flat() : (expression[chain] ?? []);
  const levels = tags.filter((tag) => names.some(({ name }) => name === tag.name)).map(({ level = 0 }) => level);
  return { chain, level: Math.min(...(levels.length === 0 ? [0] : levels)) };
}

/**
 * Who is asked when, as in the peer: each alternative of one tag is a chain of its own, what several tags choose together is
 * one more. Undefined for those that are asked at once whatever becomes of the others: of chains with one level, of calls
 * that name a level, and of those for everyone.
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

/** The tries besides the first that a call asks for at a destination: those of the first tag it wears that has a number. */
export function findRetries(tags: readonly Tag[], expression: TagExpression | undefined): number | undefined {
  const requestedTag = expression?.flat().find((tag) => tag.retries !== undefined && matchesTag(tags, tag));
  return requestedTag?.retries === undefined ? undefined : Math.min(requestedTag.retries, maxRetries);
}
