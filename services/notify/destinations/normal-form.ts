import type { DestinationKind } from './destination.ts';
import { fixedSegments } from './form-definition.ts';
import { writeOptions, type CommonOptions } from './options.ts';
import { secretArgument } from './url-fields.ts';
import { encodePart, hostAndPort, prefixedArguments, type DestinationUrl } from './url.ts';

/** Enough of a token to tell it from another, and no more. */
function mask(text: string): string {
  return text.length < 4 ? '****' : `${text.slice(0, 1)}...${text.slice(-1)}`;
}

/**
 * The URL as it is stored and shown: known arguments only, then the common ones. `masked` hides what the kind's form calls
 * secret, the password, header values and every argument whose name speaks of a secret.
 */
export function normalForm(
  kind: DestinationKind,
  url: DestinationUrl,
  options: CommonOptions,
  masked: boolean,
): string {
  const inForm = kind.form.fields.filter((field) => field.kind === 'secret').map(({ at }) => at);
  const secret = new Set<string>(kind.form.secretAt?.(url) ?? inForm);
  const fixed = fixedSegments(kind.form, url);
  const write = (text: string, hide: boolean): string => (masked && hide ? mask(text) : encodePart(text));
  const user = url.user === undefined ? '' : write(url.user, secret.has('user'));
  const password = url.password === undefined ? '' : `:${masked ? '****' : encodePart(url.password)}`;
  const host = secret.has('host') ? write(url.host, true) : hostAndPort(url);
  const path = url.path.map((segment, at) => {
    const places = [`segment:${at}`];
    if (at >= fixed) places.push('targets');
    if (at === url.path.length - 1) places.push('last');
    return `/${write(
      segment,
      places.some((place) => secret.has(place)),
    )}`;
  });
  const asTyped = kind.form.fields.some(({ at }) => at === 'path');
  const args = kind.args.flatMap((name) => {
    const value = url.query.get(name);
    if (value === undefined) return [];
    return [
      `${name}=${masked && (secret.has(`query:${name}`) || secretArgument.test(name)) ? '****' : encodePart(value)}`,
    ];
  });
  const query = [...args, writeOptions(options), ...prefixedArguments(url, masked)].join('&');
  const person = url.user === undefined && url.password === undefined ? '' : `${user}${password}@`;
  return `${url.scheme}://${person}${host}${asTyped ? url.rawPath : path.join('')}?${query}`;
}
