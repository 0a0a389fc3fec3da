/** Fields that frame, route or authenticate a message, which RFC 9110 (6.5.1) does not allow in trailers. */
const forbiddenNames = [
  'content-(?:length|encoding|type|range)',
  'host',
  'cookie',
  'set-cookie',
  'authorization',
  'www-authenticate',
  'proxy-.+',
  '(?:x-)?remote-.+',
  'forwarded',
  'x-forwarded-.+',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'cache-control',
  'max-forwards',
  'range',
];
const forbiddenTrailers = new RegExp(`^(?:${forbiddenNames.join('|')})$`);

/** Returns the trailers that may be passed on, as pairs of name and value. */
export function filterTrailers(raw: readonly string[]): [string, string][] {
  const allowed: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [name = '', value = ''] = [raw[index], raw[index + 1]];
    if (name.startsWith(':') || name.includes('_') || forbiddenTrailers.test(name.toLowerCase())) continue;
    allowed.push([name, value]);
  }
  return allowed;
}
