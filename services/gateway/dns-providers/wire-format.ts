/** Types and classes of records (RFC 1035, 3.2; RFC 2136, 2.4; RFC 8945, 4.2). */
export const recordType = { soa: 6, txt: 16, tsig: 250 } as const;
export const recordClass = { in: 1, none: 254, any: 255 } as const;

/** Record to encode. */
export interface WireRecord {
  readonly name: string;
  readonly type: number;
  readonly class: number;
  readonly ttl: number;
  readonly data: Buffer;
}

/** Encodes a name without compression, in lower case (RFC 4034, 6.2). */
export function encodeName(name: string): Buffer {
  const labels = name
    .toLowerCase()
    .replace(/\.$/, '')
    .split('.')
    .filter((label) => label !== '');
  const parts = labels.flatMap((label) => [Buffer.from([Buffer.byteLength(label)]), Buffer.from(label, 'latin1')]);
  return Buffer.concat([...parts, Buffer.from([0])]);
}

/** Encodes 16-bit numbers in network byte order. */
export function encodeNumbers(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) buffer.writeUInt16BE(value, index * 2);
  return buffer;
}

/** Encodes a record. */
export function encodeRecord({ name, type, class: recordClassId, ttl, data }: WireRecord): Buffer {
  const ttlField = Buffer.alloc(4);
  ttlField.writeUInt32BE(ttl);
  return Buffer.concat([
    encodeName(name),
    encodeNumbers(type, recordClassId),
    ttlField,
    encodeNumbers(data.length),
    data,
  ]);
}

/** Returns the position after the name at `offset`. @throws RangeError for a truncated message */
export function skipName(message: Buffer, offset: number): number {
  for (let position = offset; ;) {
    const length = message.readUInt8(position);
    if (length === 0) return position + 1;
    if (length >= 0xc0) return position + 2;
    position += length + 1;
  }
}
