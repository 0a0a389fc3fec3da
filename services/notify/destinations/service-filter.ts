import { kinds } from './catalogue.ts';
import type { Destination } from './destination.ts';

/** Whether a destination may be used, as the settings say. */
export type IsAllowed = (destination: Destination) => boolean;

function parseSchemes(list: readonly string[]): ReadonlySet<string> {
  return new Set(list.flatMap((each) => each.toLowerCase().split(/[\s,]+/)).filter((each) => each !== ''));
}

/** All schemes of the kind one of them belongs to: who names one means them all. */
function findFamily(scheme: string): readonly string[] {
  const families = kinds.map(({ protocols, secureProtocols }) => [...protocols, ...secureProtocols]);
  return families.find((family) => family.includes(scheme)) ?? [scheme];
}

/** What the lists of schemes leave: those of `allow` where it names any, else all but those of `deny`. */
export function buildServiceFilter(allow: readonly string[], deny: readonly string[]): IsAllowed {
  const [allowed, denied] = [parseSchemes(allow), parseSchemes(deny)];
  if (allowed.size === 0 && denied.size === 0) return () => true;
  return (destination) => {
    const family = findFamily(destination.url(true).split('://', 1)[0] ?? '');
    return allowed.size > 0 ? family.some((each) => allowed.has(each)) : !family.some((each) => denied.has(each));
  };
}
