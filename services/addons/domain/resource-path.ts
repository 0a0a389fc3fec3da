import { decodePercentEncoding } from '../../contracts/percent-encoding.ts';

/** Request of a client for a resource of an addon. */
export interface ResourceRequest {
  readonly resource: string;
  readonly type: string;
  readonly id: string;
  readonly extra: Readonly<Record<string, string>>;
}

/** Path below the base address of an addon. */
export type AddonPath = { readonly kind: 'manifest' } | { readonly kind: 'configure' } | ResourcePath;
interface ResourcePath extends ResourceRequest {
  readonly kind: 'resource';
}

const resources = new Set(['stream', 'catalog', 'meta', 'subtitles', 'addon_catalog']);

/**
 * Parses the path below the base address of an addon. Each segment is decoded once after the split, so that a search
 * for `a & b` is one value. Returns undefined for paths outside of the protocol.
 */
export function parseAddonPath(rawPath: string): AddonPath | undefined {
  if (rawPath === '/manifest.json') return { kind: 'manifest' };
  if (rawPath === '/configure' || rawPath === '/configure/') return { kind: 'configure' };
  const segments = rawPath.slice(1).split('/');
  const lastSegment = segments.at(-1);
  if (lastSegment?.endsWith('.json') !== true || segments.length < 3 || segments.length > 4) return undefined;
  segments[segments.length - 1] = lastSegment.slice(0, -'.json'.length);
  const resource = decodePercentEncoding(segments[0] ?? '');
  const type = decodePercentEncoding(segments[1] ?? '');
  const id = decodePercentEncoding(segments[2] ?? '');
  if (resource === undefined || type === undefined || id === undefined || id === '' || !resources.has(resource))
    return undefined;
  const extra = segments[3] === undefined ? {} : parseExtra(segments[3]);
  return extra === undefined ? undefined : { kind: 'resource', resource, type, id, extra };
}

function parseExtra(rawExtra: string): Readonly<Record<string, string>> | undefined {
  const extra: Record<string, string> = {};
  for (const pair of rawExtra.split('&')) {
    if (pair === '') continue;
    const separatorIndex = pair.indexOf('=');
    const name = decodePercentEncoding(separatorIndex === -1 ? pair : pair.slice(0, separatorIndex));
    const value = decodePercentEncoding(separatorIndex === -1 ? '' : pair.slice(separatorIndex + 1));
    if (name === undefined || value === undefined) return undefined;
    if (name !== '__proto__') extra[name] = value;
  }
  return extra;
}

/** Builds the path of a resource below the base address of an addon. */
export function buildResourcePath({ resource, type, id, extra }: ResourceRequest): string {
  const pairs = Object.entries(extra).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  const tail = pairs.length === 0 ? '' : `/${pairs.join('&')}`;
  return `/${resource}/${encodeURIComponent(type)}/${encodeURIComponent(id)}${tail}.json`;
}
