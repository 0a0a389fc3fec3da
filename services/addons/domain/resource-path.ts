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
export function readAddonPath(raw: string): AddonPath | undefined {
  if (raw === '/manifest.json') return { kind: 'manifest' };
  if (raw === '/configure' || raw === '/configure/') return { kind: 'configure' };
  const parts = raw.slice(1).split('/');
  const last = parts.at(-1);
  if (last?.endsWith('.json') !== true || parts.length < 3 || parts.length > 4) return undefined;
  parts[parts.length - 1] = last.slice(0, -'.json'.length);
  const resource = decode(parts[0]);
  const type = decode(parts[1]);
  const id = decode(parts[2]);
  if (resource === undefined || type === undefined || id === undefined || id === '' || !resources.has(resource))
    return undefined;
  const extra = parts[3] === undefined ? {} : readExtra(parts[3]);
  return extra === undefined ? undefined : { kind: 'resource', resource, type, id, extra };
}

function readExtra(raw: string): Readonly<Record<string, string>> | undefined {
  const extra: Record<string, string> = {};
  for (const pair of raw.split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = decode(at === -1 ? pair : pair.slice(0, at));
    const value = decode(at === -1 ? '' : pair.slice(at + 1));
    if (name === undefined || value === undefined) return undefined;
    if (name !== '__proto__') extra[name] = value;
  }
  return extra;
}

function decode(part = ''): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** Builds the path of a resource below the base address of an addon. */
export function resourcePath({ resource, type, id, extra }: ResourceRequest): string {
  const pairs = Object.entries(extra).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  const tail = pairs.length === 0 ? '' : `/${pairs.join('&')}`;
  return `/${resource}/${encodeURIComponent(type)}/${encodeURIComponent(id)}${tail}.json`;
}
