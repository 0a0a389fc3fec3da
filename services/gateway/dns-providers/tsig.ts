import { createHmac, timingSafeEqual } from 'node:crypto';
import { encodeName, encodeNumbers, encodeRecord, recordClass, recordType, skipName } from './wire-format.ts';

/** Key shared with a DNS server. */
export interface TsigKey {
  readonly name: string;
  readonly algorithm: 'hmac-sha256' | 'hmac-sha384' | 'hmac-sha512';
  /** Base64. */
  readonly secret: string;
}

const fudgeSeconds = 300;

/** Signs a request (RFC 8945, 5.1). Returns the message with the TSIG record, and the MAC for the reply. */
export function signRequest(
  message: Buffer,
  key: TsigKey,
  now: number,
): { readonly signed: Buffer; readonly mac: Buffer } {
  const time = encodeTime(Math.floor(now / 1000));
  const variables = buildVariables(key, time, encodeNumbers(0, 0));
  const mac = computeMac(key, [message, variables]);
  const data = Buffer.concat([
    encodeName(key.algorithm),
    time,
    encodeNumbers(fudgeSeconds, mac.length),
    mac,
    encodeNumbers(message.readUInt16BE(0), 0, 0),
  ]);
  const record = encodeRecord({ name: key.name, type: recordType.tsig, class: recordClass.any, ttl: 0, data });
  return { signed: Buffer.concat([withAdditionals(message, 1), record]), mac };
}

/**
 * Returns whether the last record of a reply is a valid TSIG record for the MAC of the request (RFC 8945, 5.3).
 * @throws RangeError for a truncated message
 */
export function verifyReply(message: Buffer, key: TsigKey, requestMac: Buffer): boolean {
  const start = findLastRecord(message);
  if (start === undefined) return false;
  const fields = skipName(message, start);
  if (message.readUInt16BE(fields) !== recordType.tsig) return false;
  const afterAlgorithm = skipName(message, fields + 10);
  const time = message.subarray(afterAlgorithm, afterAlgorithm + 6);
  const macLength = message.readUInt16BE(afterAlgorithm + 8);
  const mac = message.subarray(afterAlgorithm + 10, afterAlgorithm + 10 + macLength);
  const end = afterAlgorithm + 10 + macLength;
  // Original id, error and other data.
  const error = message.subarray(end + 2, end + 4);
  const other = message.subarray(end + 4);
  const unsigned = withAdditionals(message.subarray(0, start), -1);
  message.copy(unsigned, 0, end, end + 2);
  const variables = buildVariables(key, time, Buffer.concat([error, other]));
  const expected = computeMac(key, [encodeNumbers(requestMac.length), requestMac, unsigned, variables]);
  return mac.length === expected.length && timingSafeEqual(mac, expected);
}

/** Returns the error of an unsigned TSIG record, such as 16 for BADSIG; 0 without one. */
export function getTsigError(message: Buffer): number {
  const start = findLastRecord(message);
  if (start === undefined) return 0;
  const fields = skipName(message, start);
  if (message.readUInt16BE(fields) !== recordType.tsig) return 0;
  const afterAlgorithm = skipName(message, fields + 10);
  return message.readUInt16BE(afterAlgorithm + 10 + message.readUInt16BE(afterAlgorithm + 8) + 2);
}

function computeMac({ algorithm, secret }: TsigKey, parts: readonly Buffer[]): Buffer {
  return createHmac(algorithm.slice('hmac-'.length), Buffer.from(secret, 'base64'))
    .update(Buffer.concat(parts))
    .digest();
}

/** @param rest Error and other data */
function buildVariables({ name, algorithm }: TsigKey, time: Buffer, rest: Buffer): Buffer {
  const fudge = encodeNumbers(fudgeSeconds);
  return Buffer.concat([
    encodeName(name),
    encodeNumbers(recordClass.any, 0, 0),
    encodeName(algorithm),
    time,
    fudge,
    rest,
  ]);
}

function encodeTime(seconds: number): Buffer {
  const buffer = Buffer.alloc(6);
  buffer.writeUIntBE(seconds, 0, 6);
  return buffer;
}

/** Returns a copy with another number of additional records. */
function withAdditionals(message: Buffer, difference: number): Buffer {
  const copy = Buffer.from(message);
  copy.writeUInt16BE(copy.readUInt16BE(10) + difference, 10);
  return copy;
}

/** Returns the position of the last record; undefined without additional records. */
function findLastRecord(message: Buffer): number | undefined {
  const [questions = 0, answers = 0, authorities = 0, additionals = 0] = [4, 6, 8, 10].map((at) =>
    message.readUInt16BE(at),
  );
  if (additionals === 0) return undefined;
  let position = 12;
  for (let index = 0; index < questions; index += 1) position = skipName(message, position) + 4;
  for (let index = 1; index < answers + authorities + additionals; index += 1) {
    const fields = skipName(message, position);
    position = fields + 10 + message.readUInt16BE(fields + 8);
  }
  return position;
}
