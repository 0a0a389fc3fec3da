import { kinds } from './catalogue.ts';
import type { Settings } from '../settings.ts';
import type { Destination } from './destination.ts';

/** Returns whether the settings allow a destination. */
export type IsAllowed = (destination: Destination) => boolean;

function parseSchemes(list: readonly string[]): ReadonlySet<string> {
  return new Set(list.flatMap((each) => each.toLowerCase().split(/[\s,]+/)).filter((each) => each !== ''));
}

/** Returns all schemes of the kind that a scheme belongs to. */
function findFamily(scheme: string): readonly string[] {
  const families = kinds.map(({ protocols, secureProtocols }) => [...protocols, ...secureProtocols]);
  return families.find((family) => family.includes(scheme)) ?? [scheme];
}

/** Filter by the settings, which may change. */
export class ServiceFilter {
  readonly #settings: Readonly<Pick<Settings, 'allowServices' | 'denyServices'>>;
  #current: IsAllowed;

  constructor(settings: Readonly<Pick<Settings, 'allowServices' | 'denyServices'>>) {
    this.#settings = settings;
    this.#current = buildServiceFilter(settings.allowServices, settings.denyServices);
  }

  /** Applies changed settings. */
  update(): void {
    this.#current = buildServiceFilter(this.#settings.allowServices, this.#settings.denyServices);
  }

  readonly isAllowed: IsAllowed = (destination) => this.#current(destination);
}

/**
 * Creates a filter from lists of schemes: if `allow` is not empty, only its kinds are allowed, otherwise all except
 * those of `deny`.
 */
export function buildServiceFilter(allow: readonly string[], deny: readonly string[]): IsAllowed {
  const [allowed, denied] = [parseSchemes(allow), parseSchemes(deny)];
  if (allowed.size === 0 && denied.size === 0) return () => true;
  return (destination) => {
    const family = findFamily(destination.url(true).split('://', 1)[0] ?? '');
    return allowed.size > 0 ? family.some((each) => allowed.has(each)) : !family.some((each) => denied.has(each));
  };
}
