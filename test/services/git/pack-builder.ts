import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';

/** Computes the object ID of a blob. */
export function blobId(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/** Encodes a blob as an object of a pack. */
export function packedBlob(bytes: Uint8Array): Buffer {
  return Buffer.concat([packHead(3, bytes.length), deflateSync(bytes)]);
}

/** Encodes a delta object that copies another object repeatedly: one byte for each 64 KiB of it. */
export function swellingDelta(base: Uint8Array, times: number): Buffer {
  if (base.length !== 0x1_0000) throw new Error('the base is of 64 KiB');
  const delta = Buffer.concat([varint(base.length), varint(base.length * times), Buffer.alloc(times, 0x80)]);
  return Buffer.concat([packHead(7, delta.length), Buffer.from(blobId(base), 'hex'), deflateSync(delta)]);
}

/** Builds a pack as clients push it. */
export function buildPack(objects: readonly Buffer[]): Buffer {
  const head = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  head.writeUInt32BE(objects.length, 8);
  const body = Buffer.concat([head, ...objects]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

function packHead(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 0x0f)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push((bytes.pop() ?? 0) | 0x80, rest & 0x7f);
  }
  return Buffer.from(bytes);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
