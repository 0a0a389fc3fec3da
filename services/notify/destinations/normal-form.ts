import type { DestinationKind } from './destination.ts';
import { countFixedSegments } from './form-definition.ts';
import { writeOptions, type CommonOptions } from './options.ts';
import { secretArgument } from './url-fields.ts';
import { encodePart, hostAndPort, prefixedArguments, type DestinationUrl } from './url.ts';

/** Masks text, except for two characters that distinguish it from other tokens. */
function mask(text: string): string {
  return text.length < 4 ? '****' : `${text.slice(0, 1)}...${text.slice(-1)}`;
}

/**
 * Builds the URL that is stored and shown: supported arguments, then the common ones. `masked` hides secret fields of
 * the form, the password, header values and arguments with the name of a secret.
 */
export function buildNormalUrl(
  kind: DestinationKind,
  url: DestinationUrl,
  options: CommonOptions,
  masked: boolean,
): string {
  const formLocations = kind.form.fields.filter((field) => field.kind === 'secret').map(({ location }) => location);
  const secret = new Set<string>(kind.form.secretLocations?.(url) ?? formLocations);
  const fixed = countFixedSegments(kind.form, url);
  const encodeOrMask = (text: string, hide: boolean): string => (masked && hide ? mask(text) : encodePart(text));
  const user = url.user === undefined ? '' : encodeOrMask(url.user, secret.has('user'));
  const password = url.password === undefined ? '' : `:${masked ? '****' : encodePart(url.password)}`;
  const host = secret.has('host') ? encodeOrMask(url.host, true) : hostAndPort(url);
  const path = url.path.map((segment, location) => {
    const locations = [`segment:${location}`];
    if (location >= fixed) locations.push('targets');
    if (location === url.path.length - 1) locations.push('last');
    return `/${encodeOrMask(
      segment,
      locations.some((location) => secret.has(location)),
    )}`;
  });
  const usesRawPath = kind.form.fields.some(({ location }) => location === 'path');
  const argumentTexts = kind.args.flatMap((name) => {
    const value = url.query.get(name);
    if (value === undefined) return [];
    return [
      `${name}=${masked && (secret.has(`query:${name}`) || secretArgument.test(name)) ? '****' : encodePart(value)}`,
    ];
  });
  const query = [...argumentTexts, writeOptions(options), ...prefixedArguments(url, masked)].join('&');
  const credentials = url.user === undefined && url.password === undefined ? '' : `${user}${password}@`;
  return `${url.scheme}://${credentials}${host}${usesRawPath ? url.rawPath : path.join('')}?${query}`;
}
