import { RunFault } from '../errors.ts';
import { readJson, writeJson } from '../format/json.ts';
import type { Run } from '../run.ts';
import type { Value } from '../values.ts';
import { takes, type TemplateFunction } from './signature.ts';

const base32Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const base64Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

interface Base {
  readonly name: string;
  readonly alphabet: string;
  readonly bits: number;
  /** Characters that are written together. */
  readonly group: number;
}
const base64: Base = { name: 'base64', alphabet: base64Alphabet, bits: 6, group: 4 };
const base32: Base = { name: 'base32', alphabet: base32Alphabet, bits: 5, group: 8 };

function encode(bytes: string, { alphabet, bits, group }: Base, run: Run): string {
  run.step(Math.ceil(bytes.length / 16));
  let text = '';
  let held = 0;
  let count = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    held = ((held << 8) | bytes.charCodeAt(at)) & 0xffff;
    for (count += 8; count >= bits; count -= bits) text += alphabet.charAt((held >> (count - bits)) & (2 ** bits - 1));
  }
  if (count > 0) text += alphabet.charAt((held << (bits - count)) & (2 ** bits - 1));
  return text.padEnd(Math.ceil(text.length / group) * group, '=');
}

/** Answers the reason where it is none, as the peer does. */
function decode(written: string, { name, alphabet, bits, group }: Base, run: Run): string {
  run.step(Math.ceil(written.length / 16));
  const text = written.replace(/[\r\n]/g, '');
  const illegal = (at: number): string => `illegal ${name} data at input byte ${String(at)}`;
  const body = text.replace(/=+$/, '');
  const wrong = [...body].findIndex((letter) => !alphabet.includes(letter));
  const rest = body.length % group;
  const hasRoom = bits === 6 ? rest !== 1 : ![1, 3, 6].includes(rest);
  if (wrong >= 0) return illegal(wrong);
  if (text.length % group !== 0 || text.length - body.length >= group || !hasRoom) {
    return illegal(bits === 6 && text === body ? body.length - rest : body.length);
  }
  let bytes = '';
  let held = 0;
  let count = 0;
  for (const letter of body) {
    held = ((held << bits) | alphabet.indexOf(letter)) & 0xffff;
    count += bits;
    if (count < 8) continue;
    count -= 8;
    bytes += String.fromCharCode((held >> count) & 0xff);
  }
  return bytes;
}

function adler32(bytes: string): number {
  let a = 1;
  let b = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    a = (a + bytes.charCodeAt(at)) % 65_521;
    b = (b + a) % 65_521;
  }
  return b * 65_536 + a;
}

function digest(algorithm: 'sha1' | 'sha256' | 'sha512'): TemplateFunction {
  return takes(['string'], ([bytes], { surroundings }) => surroundings.digest(algorithm, bytes));
}

/** What `call` answers; nothing where it fails. */
function orNothing(call: () => Value, nothing: Value): Value {
  try {
    return call();
  } catch (error) {
    if (error instanceof RunFault) return nothing;
    throw error;
  }
}

const compactJson = { html: true, indent: '' };
const prettyJson = { html: true, indent: '  ' };
const rawJson = { html: false, indent: '' };

const toJson = takes(['any'], ([value], run) => orNothing(() => writeJson(value, compactJson, run), ''));
const toPretty = takes(['any'], ([value], run) => orNothing(() => writeJson(value, prettyJson, run), ''));
const toRaw = takes(['any'], ([value], run) => writeJson(value, rawJson, run));
const fromJson = takes(['string'], ([text]) => orNothing(() => readJson(text), null));

/** Sprig's digests and encodings. JSON has Sprig's own names, too, which the peer spells in capitals. */
export const encodingFunctions: Readonly<Record<string, TemplateFunction>> = {
  sha1sum: digest('sha1'),
  sha256sum: digest('sha256'),
  sha512sum: digest('sha512'),
  adler32sum: takes(['string'], ([bytes]) => String(adler32(bytes))),
  b64enc: takes(['string'], ([bytes], run) => encode(bytes, base64, run)),
  b64dec: takes(['string'], ([text], run) => decode(text, base64, run)),
  b32enc: takes(['string'], ([bytes], run) => encode(bytes, base32, run)),
  b32dec: takes(['string'], ([text], run) => decode(text, base32, run)),
  toJSON: toJson,
  toJson,
  toPrettyJSON: toPretty,
  toPrettyJson: toPretty,
  toRawJSON: toRaw,
  toRawJson: toRaw,
  mustToRawJSON: toRaw,
  fromJSON: fromJson,
  fromJson,
  mustToJSON: takes(['any'], ([value], run) => writeJson(value, compactJson, run)),
  mustToPrettyJSON: takes(['any'], ([value], run) => writeJson(value, prettyJson, run)),
  mustFromJSON: takes(['string'], ([text]) => readJson(text)),
};
