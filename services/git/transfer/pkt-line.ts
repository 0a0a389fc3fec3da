/** What stands in front of a packet's bytes: its length in four hexadecimal digits, these included. */
const headerLength = 4;
/** More does not fit into a packet. */
const longestPacket = 65_520;

/** A packet of git's protocols: its bytes, or one of those that only separate. */
export type Packet = Buffer | 'flush' | 'delimiter' | 'response-end';

/** One packet with these bytes. */
export function packet(text: string | Uint8Array): Buffer {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const header = Buffer.from((bytes.length + headerLength).toString(16).padStart(headerLength, '0'));
  return Buffer.concat([header, bytes]);
}

export const flushPacket = Buffer.from('0000');

/** Takes packets off a stream of bytes that comes in pieces. */
export class PacketReader {
  #rest: Buffer = Buffer.alloc(0);

  /** Bytes that were given and belong to no packet that was read. */
  get rest(): Buffer {
    return this.#rest;
  }

  add(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
  }

  /** The next packet with the bytes it came in; undefined until it is there whole. @throws Error for what is no packet. */
  next(): { readonly packet: Packet; readonly bytes: Buffer } | undefined {
    if (this.#rest.length < headerLength) return undefined;
    const header = this.#rest.toString('latin1', 0, headerLength);
    if (!/^[0-9a-f]{4}$/i.test(header)) throw new Error('not a packet of git');
    const length = Number.parseInt(header, 16);
    if (length < headerLength) {
      if (length === 3) throw new Error('not a packet of git');
      return { packet: separators[length] ?? 'flush', bytes: this.#take(headerLength) };
    }
    if (length > longestPacket) throw new Error('not a packet of git');
    if (this.#rest.length < length) return undefined;
    const bytes = this.#take(length);
    return { packet: bytes.subarray(headerLength), bytes };
  }

  #take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }
}

const separators = ['flush', 'delimiter', 'response-end'] as const;
