import * as m from '#messages/host-problems';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { findOwn } from '../../../services/contracts/find-own.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { buildTooLargeProblem } from './too-large.ts';

/** Encodings that {@link decode} supports, for the Accept-Encoding header. */
export const acceptedEncodings = 'gzip, deflate, br';

const decoders: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * Decodes the content encodings of a body. The limit applies to the output, which stops decompression bombs.
 * @throws Problem `fetch.too_large` (502), `fetch.failed` (502) for an unknown encoding; the decoders' own errors.
 */
export async function decode(bytes: Uint8Array, encoding: string, maxBytes: number): Promise<Uint8Array> {
  const names = encoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  const makers = names.map((name) => findOwn(decoders, name));
  if (makers.length > 3 || makers.includes(undefined)) {
    throw new Problem('fetch.failed', 502, () => m.unknownEncoding({ encoding: encoding.slice(0, 60) }));
  }
  if (makers.length === 0) return bytes;
  const parts: Uint8Array[] = [];
  let size = 0;
  const collect = new Writable({
    write(part: Uint8Array, _encoding, done) {
      size += part.length;
      parts.push(part);
      done(size > maxBytes ? buildTooLargeProblem(maxBytes) : null);
    },
  });
  const stages = makers.reverse().flatMap((make) => (make === undefined ? [] : [make()]));
  await pipeline([Readable.from([bytes]), ...stages, collect]);
  return new Uint8Array(Buffer.concat(parts, size));
}
