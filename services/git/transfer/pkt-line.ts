/** Length of a packet header: the packet length including the header, as four hexadecimal digits. */
const headerLength = 4;
/** Maximum length of a packet in the pkt-line format. */
const maxPacketLength = 65_520;

/** Packet of a git protocol: its payload, or the name of a special packet. */
export type Packet = Buffer | 'flush' | 'delimiter' | 'response-end';

/** Encodes a packet. */
export function encodePacket(text: string | Uint8Array): Buffer {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const header = Buffer.from((bytes.length + headerLength).toString(16).padStart(headerLength, '0'));
  return Buffer.concat([header, bytes]);
}

export const flushPacket = Buffer.from('0000');

/** Parses packets from a stream of chunks. */
export class PacketReader {
  #remaining: Buffer = Buffer.alloc(0);

  /** Bytes that were added but not yet returned as a packet. */
  get remaining(): Buffer {
    return this.#remaining;
  }

  add(bytes: Buffer): void {
    this.#remaining = this.#remaining.length === 0 ? bytes : Buffer.concat([this.#remaining, bytes]);
  }

  /**
   * Returns the next packet with its raw bytes, or undefined while the packet is incomplete.
   *
   * @throws Error if the stream is not in the pkt-line format
   */
  read(): { readonly packet: Packet; readonly bytes: Buffer } | undefined {
    if (this.#remaining.length < headerLength) return undefined;
    const header = this.#remaining.toString('latin1', 0, headerLength);
    if (!/^[0-9a-f]{4}$/i.test(header)) throw new Error('invalid pkt-line header');
    const length = Number.parseInt(header, 16);
    if (length < headerLength) {
      if (length === 3) throw new Error('invalid pkt-line header');
      return { packet: specialPackets[length] ?? 'flush', bytes: this.#consume(headerLength) };
    }
    if (length > maxPacketLength) throw new Error('pkt-line is too long');
    if (this.#remaining.length < length) return undefined;
    const bytes = this.#consume(length);
    return { packet: bytes.subarray(headerLength), bytes };
  }

  #consume(length: number): Buffer {
    const consumed = this.#remaining.subarray(0, length);
    this.#remaining = this.#remaining.subarray(length);
    return consumed;
  }
}

const specialPackets = ['flush', 'delimiter', 'response-end'] as const;
