import { ExecutionError } from '../errors.ts';
import { readJson, writeJson } from '../format/json.ts';
import type { TemplateRun } from '../run.ts';
import type { Value } from '../values.ts';
import { defineFunction, type TemplateFunction } from './signature.ts';

const base32Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const base64Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

interface Base {
  readonly name: string;
  readonly alphabet: string;
  readonly bits: number;
  /** Number of characters per padded group. */
  readonly group: number;
}
const base64: Base = { name: 'base64', alphabet: base64Alphabet, bits: 6, group: 4 };
const base32: Base = { name: 'base32', alphabet: base32Alphabet, bits: 5, group: 8 };

function encode(bytes: string, { alphabet, bits, group }: Base, run: TemplateRun): string {
  run.step(Math.ceil(bytes.length / 16));
  let text = '';
  let buffer = 0;
  let count = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    buffer = ((buffer << 8) | bytes.charCodeAt(index)) & 0xffff;
    for (count += 8; count >= bits; count -= bits)
      text += alphabet.charAt((buffer >> (count - bits)) & (2 ** bits - 1));
  }
  if (count > 0) text += alphabet.charAt((buffer << (bits - count)) & (2 ** bits - 1));
  return text.padEnd(Math.ceil(text.length / group) * group, '=');
}

/** Decodes text, or returns the error message, as in ntfy. */
function decode(input: string, { name, alphabet, bits, group }: Base, run: TemplateRun): string {
  run.step(Math.ceil(input.length / 16));
  const text = input.replace(/[\r\n]/g, '');
  const formatError = (index: number): string => `illegal ${name} data at input byte ${String(index)}`;
  const body = text.replace(/=+$/, '');
  const invalidIndex = [...body].findIndex((letter) => !alphabet.includes(letter));
  const remainder = body.length % group;
  const isValidLength = bits === 6 ? remainder !== 1 : ![1, 3, 6].includes(remainder);
  if (invalidIndex >= 0) return formatError(invalidIndex);
  if (text.length % group !== 0 || text.length - body.length >= group || !isValidLength) {
    return formatError(bits === 6 && text === body ? body.length - remainder : body.length);
  }
  let bytes = '';
  let buffer = 0;
  let count = 0;
  for (const letter of body) {
    buffer = ((buffer << bits) | alphabet.indexOf(letter)) & 0xffff;
    count += bits;
    if (count < 8) continue;
    count -= 8;
    bytes += String.fromCharCode((buffer >> count) & 0xff);
  }
  return bytes;
}

function adler32(bytes: string): number {
  let a = 1;
  let b = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    a = (a + bytes.charCodeAt(index)) % 65_521;
    b = (b + a) % 65_521;
  }
  return b * 65_536 + a;
}

function digest(algorithm: 'sha1' | 'sha256' | 'sha512'): TemplateFunction {
  return defineFunction(['string'], ([bytes], { environment }) => environment.digest(algorithm, bytes));
}

/** Returns the result of `call`, or `fallback` when it fails. */
function withFallback(call: () => Value, fallback: Value): Value {
  try {
    return call();
  } catch (error) {
    if (error instanceof ExecutionError) return fallback;
    throw error;
  }
}

const compactJson = { escapeHtml: true, indent: '' };
const prettyJson = { escapeHtml: true, indent: '  ' };
const rawJson = { escapeHtml: false, indent: '' };

const toJson = defineFunction(['any'], ([value], run) => withFallback(() => writeJson(value, compactJson, run), ''));
const toPrettyJson = defineFunction(['any'], ([value], run) =>
  withFallback(() => writeJson(value, prettyJson, run), ''),
);
const toRawJson = defineFunction(['any'], ([value], run) => writeJson(value, rawJson, run));
const fromJson = defineFunction(['string'], ([text]) => withFallback(() => readJson(text), null));

/** Sprig's digests and encodings. The JSON functions also exist under Sprig's own spelling; ntfy capitalizes JSON. */
export const encodingFunctions: Readonly<Record<string, TemplateFunction>> = {
  sha1sum: digest('sha1'),
  sha256sum: digest('sha256'),
  sha512sum: digest('sha512'),
  adler32sum: defineFunction(['string'], ([bytes]) => String(adler32(bytes))),
  b64enc: defineFunction(['string'], ([bytes], run) => encode(bytes, base64, run)),
  b64dec: defineFunction(['string'], ([text], run) => decode(text, base64, run)),
  b32enc: defineFunction(['string'], ([bytes], run) => encode(bytes, base32, run)),
  b32dec: defineFunction(['string'], ([text], run) => decode(text, base32, run)),
  toJSON: toJson,
  toJson,
  toPrettyJSON: toPrettyJson,
  toPrettyJson,
  toRawJSON: toRawJson,
  toRawJson,
  mustToRawJSON: toRawJson,
  fromJSON: fromJson,
  fromJson,
  mustToJSON: defineFunction(['any'], ([value], run) => writeJson(value, compactJson, run)),
  mustToPrettyJSON: defineFunction(['any'], ([value], run) => writeJson(value, prettyJson, run)),
  mustFromJSON: defineFunction(['string'], ([text]) => readJson(text)),
};
