import type { DestinationKind } from './destination.ts';
import { countFixedSegments, type FieldLocation } from './form-definition.ts';
import { encodePart, parseDestinationUrl, type DestinationUrl } from './url.ts';

/** Returns the value of a location in the URL of a kind; `''` if there is none. */
export function readUrlField(url: DestinationUrl, location: FieldLocation, kind: DestinationKind): string | boolean {
  switch (location) {
    case 'secure':
      return kind.secureProtocols.includes(url.scheme);
    case 'user':
    case 'password':
      return url[location] ?? '';
    case 'host':
      return url.host;
    case 'port':
      return url.port === undefined ? '' : String(url.port);
    case 'path':
      return url.rawPath;
    case 'last':
      return url.path.at(-1) ?? '';
    case 'targets':
      return url.path.slice(countFixedSegments(kind.form, url)).join(', ');
    default:
      if (location.startsWith('segment:')) return url.path[parseSegmentIndex(location)] ?? '';
      return findNamedField(url, location).pairs.get(findNamedField(url, location).name) ?? '';
  }
}

/** Returns the URL with another value at a location; empty text removes it. */
export function writeUrlField(
  url: DestinationUrl,
  location: FieldLocation,
  value: string | boolean,
  kind: DestinationKind,
): DestinationUrl {
  const text = String(value);
  const textOrUndefined = text === '' ? undefined : text;
  switch (location) {
    case 'secure':
      return { ...url, scheme: (value === true ? kind.secureProtocols : kind.protocols)[0] ?? url.scheme };
    case 'user':
      return { ...url, user: textOrUndefined, ...(textOrUndefined === undefined ? { password: undefined } : {}) };
    case 'password':
      return { ...url, password: textOrUndefined };
    case 'host':
      return { ...url, host: text };
    case 'port':
      return { ...url, port: textOrUndefined === undefined ? undefined : Number(text) };
    case 'path':
      return withRawPath(url, encodePath(text));
    case 'last':
      return withPath(url, [...url.path.slice(0, -1), ...(textOrUndefined === undefined ? [] : [text])]);
    case 'targets': {
      const targets = text.split(/[\s,]+/).filter((each) => each !== '');
      return withPath(url, [...url.path.slice(0, countFixedSegments(kind.form, url)), ...targets]);
    }
    default: {
      if (location.startsWith('segment:')) {
        const path = [...url.path];
        if (textOrUndefined === undefined) path.splice(parseSegmentIndex(location), 1);
        else path[Math.min(parseSegmentIndex(location), path.length)] = text;
        return withPath(url, path);
      }
      const { group, name, pairs } = findNamedField(url, location);
      const next = new Map(pairs);
      if (textOrUndefined === undefined || value === false) next.delete(name);
      else next.set(name, value === true ? 'yes' : text);
      return { ...url, [group]: next };
    }
  }
}

/** Arguments that contain secrets by their name, in every kind. */
export const secretArgument = /^(.*token|.*key|.*secret|access|auth|pass|password|pwd|sid|sig|hmac|webhook.*)$/;

/** Returns all secrets of a URL: those of its fields, arguments, headers and password, each also percent-encoded. */
export function secretsIn(url: DestinationUrl, kind: DestinationKind | undefined): readonly string[] {
  const unfolded = kind?.form.unfold?.(url) ?? url;
  const fields = (kind?.form.fields ?? []).filter((field) => field.kind === 'secret');
  const inForm = kind === undefined ? [] : fields.map(({ location }) => String(readUrlField(unfolded, location, kind)));
  const places = kind?.form.secretLocations?.(url) ?? [];
  const byField = [
    ...inForm,
    ...places.map((location) => (kind === undefined ? '' : String(readUrlField(url, location, kind)))),
  ];
  const byName = [...url.query].filter(([name]) => secretArgument.test(name)).map(([, value]) => value);
  const basic = url.user === undefined ? [] : [Buffer.from(`${url.user}:${url.password ?? ''}`).toString('base64')];
  const all = [
    ...byField,
    ...byName,
    url.password ?? '',
    ...url.headers.values(),
    ...url.parameters.values(),
    ...basic,
  ];
  // Also includes the parts of a combined token, such as the number and key of a bot.
  const tokenParts = byField.flatMap((each) => each.split(/[:/]/)).filter((part) => part.length > 5);
  return [...new Set([...all, ...tokenParts].flatMap((each) => [each, encodePart(each)]))].filter(
    (each) => each.length > 2,
  );
}

/** Splits targets: segments are separated by commas, `to` also by white space. */
export function splitTargets(segments: readonly string[], to: string | undefined): readonly string[] {
  const names = segments.flatMap((segment) => segment.split(','));
  return [...names, ...(to ?? '').split(/[\s,]+/)].map((name) => name.trim()).filter((name) => name !== '');
}

/** Returns the URL with another path of decoded segments. */
export function withPath(url: DestinationUrl, path: readonly string[]): DestinationUrl {
  return { ...url, path, rawPath: path.map((segment) => `/${encodePart(segment)}`).join('') };
}

function withRawPath(url: DestinationUrl, rawPath: string): DestinationUrl {
  const path = parseDestinationUrl(`x://h${rawPath}`)?.path ?? [];
  return { ...url, rawPath, path };
}

function parseSegmentIndex(location: string): number {
  return Number(location.slice('segment:'.length));
}

function findNamedField(url: DestinationUrl, location: string) {
  const header = location.startsWith('header:');
  const name = location.slice(location.indexOf(':') + 1);
  // Header names are case-insensitive.
  const existingName = header
    ? [...url.headers.keys()].find((each) => each.toLowerCase() === name.toLowerCase())
    : undefined;
  const group: 'headers' | 'query' = header ? 'headers' : 'query';
  return { group, name: existingName ?? name, pairs: url[group] };
}

/** Encodes only characters that would end the path. */
function encodePath(text: string): string {
  if (text === '') return '';
  const path = text.replace(/[\s?]/g, encodePart);
  return path.startsWith('/') ? path : `/${path}`;
}
