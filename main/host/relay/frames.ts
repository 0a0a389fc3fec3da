/** Version of the frames. A host ignores frames of other versions, so that two versions can run during an update. */
const version = '1';
/** Maximum number of frames of one message. */
export const maxParts = 200;
/** Maximum number of characters of all incomplete messages: a frame is not authenticated before it is complete. */
const maxPartialLength = 128 * 1024 * 1024;
/** Length of the part of a frame before its text. */
const maxHeaderLength = 60;
const pattern = /^1:([A-Za-z0-9]{8,32}):(\d{1,15}):(\d{1,3})\/(\d{1,3}):([\s\S]*)$/;

/** Message with its sender. */
export interface Message {
  /** Identifies a host since its start. */
  readonly host: string;
  /** Increases by one with each message of a host. */
  readonly number: number;
  readonly text: string;
}

/** Splits a message into frames of a limited length; returns undefined when it is too long. */
export function splitMessage({ host, number, text }: Message, maxFrameLength: number): readonly string[] | undefined {
  const size = maxFrameLength - maxHeaderLength;
  const count = Math.max(1, Math.ceil(text.length / size));
  if (count > maxParts) return undefined;
  return Array.from({ length: count }, (_, index) => {
    const part = text.slice(index * size, (index + 1) * size);
    return `${version}:${host}:${String(number)}:${String(index + 1)}/${String(count)}:${part}`;
  });
}

/** Result of a frame: a complete message, or nothing yet. */
export type FrameResult = Message | 'incomplete' | 'own' | 'malformed' | 'other version';

interface PartialMessage {
  readonly number: number;
  readonly parts: string[];
}

/** Joins the frames of messages. The frames of a message arrive in order, as a transport delivers them. */
export class FrameReader {
  readonly #host: string;
  readonly #partial = new Map<string, PartialMessage>();
  #partialLength = 0;
  readonly #maxHosts: number;

  /** `host` identifies this host, whose own frames are ignored. */
  constructor(host: string, maxHosts = 1000) {
    this.#host = host;
    this.#maxHosts = maxHosts;
  }

  read(frame: string): FrameResult {
    const match = pattern.exec(frame);
    if (match === null) return /^\d{1,6}:/.test(frame) && !frame.startsWith('1:') ? 'other version' : 'malformed';
    const [, host = '', number = '', part = '', count = '', text = ''] = match;
    if (host === this.#host) return 'own';
    return this.#add({ host, number: Number(number), text }, Number(part), Number(count));
  }

  /** Discards incomplete messages, since their other frames were lost with the connection. */
  clear(): void {
    this.#partial.clear();
    this.#partialLength = 0;
  }

  #remove(host: string): void {
    const parts = this.#partial.get(host)?.parts ?? [];
    for (const { length } of parts) this.#partialLength -= length;
    this.#partial.delete(host);
  }

  #add({ host, number, text }: Message, part: number, count: number): FrameResult {
    if (part < 1 || part > count || count > maxParts) return 'malformed';
    if (count === 1) return { host, number, text };
    const existing = this.#partial.get(host);
    const parts = part === 1 ? [] : existing?.number === number ? existing.parts : undefined;
    this.#remove(host);
    if (parts?.length !== part - 1) return 'incomplete';
    parts.push(text);
    if (part === count) return { host, number, text: parts.join('') };
    const length = parts.reduce((sum, each) => sum + each.length, 0);
    if (this.#partial.size >= this.#maxHosts || this.#partialLength + length > maxPartialLength) this.clear();
    this.#partial.set(host, { number, parts });
    this.#partialLength += length;
    return 'incomplete';
  }
}
