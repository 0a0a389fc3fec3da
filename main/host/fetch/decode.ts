import { Writable, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Problem } from '../../../services/contracts/problem.ts';

/** What {@link readReply} can undo, for the Accept-Encoding header. */
export const acceptedEncodings = 'gzip, deflate, br';

const decoders: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * Reads a body to its end and undoes its content encodings. The bound holds for what comes out, so a small body that
 * unpacks to gigabytes stops there.
 *
 * @throws Problem `fetch.too_large` (502), `fetch.failed` (502) for an unknown encoding; the stream's own errors.
 */
export async function readReply(body: Readable, encoding: string, maxBytes: number): Promise<Uint8Array> {
  const names = encoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  const makers = names.map((name) => decoders[name]);
  if (makers.length > 3 || makers.includes(undefined)) {
    throw new Problem(
      'fetch.failed',
      502,
      `The answer has an encoding that is not understood: ${encoding.slice(0, 60)}.`,
    );
  }
  // Most answers: no need for a pipeline, which costs as much as the rest of a small request.
  if (makers.length === 0) return readPlain(body, maxBytes);
  const parts: Uint8Array[] = [];
  let size = 0;
  const collect = new Writable({
    write(part: Uint8Array, _encoding, done) {
      size += part.length;
      parts.push(part);
      done(size > maxBytes ? tooLarge(maxBytes) : null);
    },
  });
  const stages = makers.reverse().flatMap((make) => (make === undefined ? [] : [make()]));
  await pipeline([body, ...stages, collect]);
  return new Uint8Array(Buffer.concat(parts, size));
}

function readPlain(body: Readable, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const parts: Uint8Array[] = [];
    let size = 0;
    body.on('data', (part: Uint8Array) => {
      size += part.length;
      if (size <= maxBytes) return void parts.push(part);
      reject(tooLarge(maxBytes));
      body.destroy();
    });
    body.once('end', () => resolve(new Uint8Array(Buffer.concat(parts, size))));
    body.once('error', reject);
    // After the end it says nothing new.
    body.once('close', () => reject(Object.assign(new Error('the answer ended early'), { code: 'ECONNRESET' })));
  });
}

function tooLarge(maxBytes: number): Problem {
  return new Problem('fetch.too_large', 502, `The answer is larger than ${maxBytes} bytes.`);
}
