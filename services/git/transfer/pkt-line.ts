/** Length of a packet header: the packet length including the header, as four hexadecimal digits. */
const headerLength = 4;
/** Maximum length of a packet in the pkt-line format. */
const longestPacket = 65_520;

/** Packet of a git protocol: its payload, or the name of a special packet. */
export type Packet = Buffer | 'flush' | 'delimiter' | 'response-end';

/** Encodes a packet. */
export function packet(text: string | Uint8Array): Buffer {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const header = Buffer.from((bytes.length + headerLength).toString(16).padStart(headerLength, '0'));
  return Buffer.concat([header, bytes]);
}

export const flushPacket = Buffer.from('0000');

/** Parses packets from a stream of chunks. */
export class PacketReader {
  #rest: Buffer = Buffer.alloc(0);

  /** Bytes that were added but not yet returned as a packet. */
  get rest(): Buffer {
    return this.#rest;
  }

  add(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
  }

  /**
   * Returns the next packet with its raw bytes, or undefined while the packet is incomplete.
   *
   * @throws Error if the stream is not in the pkt-line format
   */
  next(): { readonly packet: Packet; readonly bytes: Buffer } | undefined {
    if (this.#rest.length < headerLength) return undefined;
    const header = this.#rest.toString('latin1', 0, headerLength);
    if (!/^[0-9a-f]{4}$/i.test(header)) throw new Error('invalid pkt-line header');
    const length = Number.parseInt(header, 16);
    if (length < headerLength) {
      if (length === 3) throw new Error('invalid pkt-line header');
      return { packet: separators[length] ?? 'flush', bytes: this.#take(headerLength) };
    }
    if (length > longestPacket) throw new Error('pkt-line is too long');
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
