import { DeliveryArgument, type DeliveryArguments } from '../../contracts/notify/delivery.ts';
import { decodePercentEncoding } from '../../contracts/percent-encoding.ts';

/** Splits a URL into its address and its arguments as typed. */
function splitArguments(url: string): readonly [address: string, pairs: readonly string[]] {
  const queryStart = url.indexOf('?');
  if (queryStart === -1) return [url, []];
  return [
    url.slice(0, queryStart),
    url
      .slice(queryStart + 1)
      .split('&')
      .filter((pair) => pair !== ''),
  ];
}

function parseName(pair: string): DeliveryArgument | undefined {
  return DeliveryArgument.safeParse(pair.split('=', 1)[0]?.toLowerCase()).data;
}

function parseValue(pair: string): string {
  const text = pair.slice(pair.indexOf('=') + 1).replaceAll('+', ' ');
  return decodePercentEncoding(text) ?? text;
}

/** Encodes a value, but keeps characters that are valid in a query. */
function encodeValue(value: string): string {
  return encodeURIComponent(value)
    .replaceAll('%20', '+')
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',')
    .replaceAll('%2F', '/');
}

/** Returns the delivery options of a URL as typed. Repeated quiet hours are joined by commas. */
export function readDelivery(url: string): DeliveryArguments {
  const result: DeliveryArguments = {};
  for (const pair of splitArguments(url)[1]) {
    const name = pair.includes('=') ? parseName(pair) : undefined;
    if (name === undefined) continue;
    const before = name === 'quiet' ? result.quiet : undefined;
    result[name] = before === undefined ? parseValue(pair) : `${before},${parseValue(pair)}`;
  }
  return result;
}

/** Replaces the delivery options of a URL; all other parts are unchanged. */
export function writeDelivery(url: string, changes: DeliveryArguments): string {
  const current = readDelivery(url);
  const changed = DeliveryArgument.options.filter(
    (name) => changes[name] !== undefined && changes[name] !== (current[name] ?? ''),
  );
  if (changed.length === 0) return url;
  const [address, pairs] = splitArguments(url);
  const unchanged = pairs.filter((pair) => !changed.some((name) => name === parseName(pair)));
  const added = changed.flatMap((name) => {
    const value = changes[name] ?? '';
    return value === '' ? [] : [`${name}=${encodeValue(value)}`];
  });
  const all = [...unchanged, ...added];
  return all.length === 0 ? address : `${address}?${all.join('&')}`;
}
