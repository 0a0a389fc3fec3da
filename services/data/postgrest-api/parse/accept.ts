import { RestError } from '../errors.ts';

/** Media type of a response. */
export interface MediaType {
  readonly kind: 'json' | 'object' | 'array' | 'csv' | 'openapi' | 'plan';
  readonly nullsStripped: boolean;
  /** Format and options of a query plan. */
  readonly plan?: { readonly format: 'text' | 'json'; readonly options: readonly string[] };
}

const json: MediaType = { kind: 'json', nullsStripped: false };

/**
 * Parses an `Accept` header.
 *
 * @param isRoot true for the root path, which serves the OpenAPI description
 * @throws RestError PGRST107 when none of the accepted types is available
 */
export function parseAccept(header: string | undefined, plans: boolean, isRoot: boolean): MediaType {
  if (header === undefined || header === '') return json;
  const ranges = header.split(',').map((text, index) => {
    const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
    const quality = Number(parameters.find((each) => each.startsWith('q='))?.slice(2) ?? 1);
    return { type: type.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 0 : quality, at: index };
  });
  ranges.sort((a, b) => b.quality - a.quality || a.at - b.at);
  for (const { type, parameters } of ranges) {
    const nullsStripped = parameters.includes('nulls=stripped');
    if (type === '*/*' || type === 'application/*' || type === 'application/json') return json;
    if (type === 'application/vnd.pgrst.object+json' || type === 'application/vnd.pgrst.object')
      return { kind: 'object', nullsStripped };
    if (type === 'application/vnd.pgrst.array+json' || type === 'application/vnd.pgrst.array')
      return nullsStripped ? { kind: 'array', nullsStripped } : json;
    if (type === 'text/csv' && !isRoot) return { kind: 'csv', nullsStripped: false };
    if (type === 'application/openapi+json' && isRoot) return { kind: 'openapi', nullsStripped: false };
    const plan = /^application\/vnd\.pgrst\.plan(?:\+(text|json))?$/.exec(type);
    if (plan !== null && plans) {
      const options = /options=([a-z|]*)/.exec(parameters.join(';'))?.[1]?.split('|').filter(Boolean) ?? [];
      return { kind: 'plan', nullsStripped: false, plan: { format: plan[1] === 'json' ? 'json' : 'text', options } };
    }
  }
  throw new RestError(406, 'PGRST107', `None of these media types are available: ${header}`);
}
