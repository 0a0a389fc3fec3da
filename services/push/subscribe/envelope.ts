import type { Message } from '../domain/message.ts';
import { seenFrom, type Outside } from './file-addresses.ts';
import { webSocketFrame } from './web-socket-frame.ts';

/** How a stream is framed. */
export type Format = TextFormat | 'ws';
type TextFormat = 'json' | 'sse' | 'raw';

/**
 * A message with the JSON that was built for it once: the same bytes go to the publisher, the table and every
 * subscriber. `seq` is undefined for one that is not cached.
 */
export class Envelope {
  readonly message: Message;
  readonly text: string;
  readonly seq: number | undefined;
  readonly #frames = new Map<Format, Buffer>();
  readonly #chunks = new Map<Format, Buffer>();
  #outside: Map<string, Envelope> | undefined;

  constructor(message: Message, text: string, seq?: number) {
    this.message = message;
    this.text = text;
    this.seq = seq;
  }

  /** The bytes of one stream event, made at the first call and shared. */
  frame(format: Format): Buffer {
    let frame = this.#frames.get(format);
    if (frame === undefined) {
      frame = format === 'ws' ? webSocketFrame(this.text) : Buffer.from(frameOf(format, this.text, this.message));
      this.#frames.set(format, frame);
    }
    return frame;
  }

  /** As readers see it who reach this server elsewhere; made once for all of them. */
  seenFrom(outside: Outside | undefined): Envelope {
    if (outside === undefined || !this.text.includes(outside.kept)) return this;
    this.#outside ??= new Map();
    const known = this.#outside.get(outside.seen);
    if (known !== undefined) return known;
    const other = new Envelope(this.message, seenFrom(this.text, outside), this.seq);
    this.#outside.set(outside.seen, other);
    return other;
  }

  /** The same as one chunk of an HTTP answer (RFC 9112, section 7.1). */
  chunk(format: Format): Buffer {
    let chunk = this.#chunks.get(format);
    if (chunk === undefined) {
      const frame = this.frame(format);
      chunk = Buffer.concat([Buffer.from(`${frame.length.toString(16)}\r\n`), frame, Buffer.from('\r\n')]);
      this.#chunks.set(format, chunk);
    }
    return chunk;
  }
}

/** Seals a message; the text of an event that is not stored is made here too. */
export function seal(message: Message): Envelope {
  return new Envelope(message, JSON.stringify(message));
}

/** Cached messages as stream events, from their stored texts; `message` where somebody read the text already. */
export function framesOfStored(
  format: Format,
  rows: readonly { readonly text: string; readonly message: Message | undefined }[],
): string | Buffer {
  if (format === 'ws') return Buffer.concat(rows.map(({ text }) => webSocketFrame(text)));
  return rows.map(({ text, message }) => frameOfStored(format, text, message)).join('');
}

function frameOfStored(format: TextFormat, text: string, message: Message | undefined): string {
  // Only raw looks inside; messages and what clears or deletes them carry no event line in sse.
  if (format === 'json') return `${text}\n`;
  return format === 'sse' ? `data: ${text}\n\n` : rawLine(message ?? readStored(text));
}

/** Our own text, written by JSON.stringify from a Message. */
export function readStored(text: string): Message {
  return JSON.parse(text) as Message;
}

function frameOf(format: TextFormat, text: string, message: Message): string {
  const { event } = message;
  // EventSource gives an event with a name to other listeners than onmessage, where clients expect messages.
  const named = event === 'open' || event === 'keepalive' || event === 'poll_request';
  return format === 'sse' && named ? `event: ${event}\ndata: ${text}\n\n` : frameOfStored(format, text, message);
}

function rawLine(message: Message): string {
  return message.event === 'message' ? `${(message.message ?? '').replaceAll('\n', ' ')}\n` : '\n';
}
