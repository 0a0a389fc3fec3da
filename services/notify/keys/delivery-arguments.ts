import { DeliveryArgument, type DeliveryArguments } from '../../contracts/notify/delivery.ts';

/** `address?pairs` in its two halves; the pairs as typed. */
function halves(url: string): readonly [address: string, pairs: readonly string[]] {
  const at = url.indexOf('?');
  if (at === -1) return [url, []];
  return [
    url.slice(0, at),
    url
      .slice(at + 1)
      .split('&')
      .filter((pair) => pair !== ''),
  ];
}

function nameOf(pair: string): DeliveryArgument | undefined {
  return DeliveryArgument.safeParse(pair.split('=', 1)[0]?.toLowerCase()).data;
}

function valueOf(pair: string): string {
  const text = pair.slice(pair.indexOf('=') + 1).replaceAll('+', ' ');
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

/** As a person would type it: what may stand in a query as it is stays. */
function written(value: string): string {
  return encodeURIComponent(value)
    .replaceAll('%20', '+')
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',')
    .replaceAll('%2F', '/');
}

/** How a destination is told, out of its URL as it was typed. Lines of quiet hours that stand apart come joined by commas. */
export function readDelivery(url: string): DeliveryArguments {
  const found: DeliveryArguments = {};
  for (const pair of halves(url)[1]) {
    const name = pair.includes('=') ? nameOf(pair) : undefined;
    if (name === undefined) continue;
    const before = name === 'quiet' ? found.quiet : undefined;
    found[name] = before === undefined ? valueOf(pair) : `${before},${valueOf(pair)}`;
  }
  return found;
}

/** The URL with other words on how it is told; everything else in it stays as it was typed. */
export function writeDelivery(url: string, given: DeliveryArguments): string {
  const now = readDelivery(url);
  const changed = DeliveryArgument.options.filter(
    (name) => given[name] !== undefined && given[name] !== (now[name] ?? ''),
  );
  if (changed.length === 0) return url;
  const [address, pairs] = halves(url);
  const kept = pairs.filter((pair) => !changed.some((name) => name === nameOf(pair)));
  const added = changed.flatMap((name) => {
    const value = given[name] ?? '';
    return value === '' ? [] : [`${name}=${written(value)}`];
  });
  const all = [...kept, ...added];
  return all.length === 0 ? address : `${address}?${all.join('&')}`;
}

/** Which of the arguments a sentence about a URL complains of. */
export function complainedOf(sentence: string): DeliveryArgument | undefined {
  return DeliveryArgument.safeParse(/^[a-z]+/.exec(sentence)?.[0]).data;
}
