import type { Message } from '../domain/message.ts';
import { parseStoredMessage } from '../domain/stored-message.ts';
import { rewriteFileAddresses, type FileAddressRewrite } from './file-addresses.ts';
import { buildWebSocketFrame } from './web-socket-frame.ts';

/** Framing of a stream. */
export type Format = TextFormat | 'ws';
type TextFormat = 'json' | 'sse' | 'raw';

/**
 * Message with its JSON, which is built once: publisher, table and subscribers share the same bytes. `seq` is undefined
 * when the message is not cached.
 */
export class Envelope {
  readonly message: Message;
  readonly text: string;
  readonly seq: number | undefined;
  readonly #frames = new Map<Format, Buffer>();
  readonly #chunks = new Map<Format, Buffer>();
  #rewritten: Map<string, Envelope> | undefined;

  constructor(message: Message, text: string, seq?: number) {
    this.message = message;
    this.text = text;
    this.seq = seq;
  }

  /** Returns the bytes of one stream event, built on first use and shared. */
  frame(format: Format): Buffer {
    let frame = this.#frames.get(format);
    if (frame === undefined) {
      frame =
        format === 'ws' ? buildWebSocketFrame(this.text) : Buffer.from(frameText(format, this.text, this.message));
      this.#frames.set(format, frame);
    }
    return frame;
  }

  /** Returns the envelope with rewritten file addresses, built once per address. */
  withFileAddresses(rewrite: FileAddressRewrite | undefined): Envelope {
    if (rewrite === undefined || !this.text.includes(rewrite.stored)) return this;
    this.#rewritten ??= new Map();
    const existing = this.#rewritten.get(rewrite.visible);
    if (existing !== undefined) return existing;
    const rewritten = new Envelope(this.message, rewriteFileAddresses(this.text, rewrite), this.seq);
    this.#rewritten.set(rewrite.visible, rewritten);
    return rewritten;
  }

  /** Returns the frame as one HTTP chunk (RFC 9112, section 7.1). */
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

/** Builds the envelope of a message that is not stored. */
export function toEnvelope(message: Message): Envelope {
  return new Envelope(message, JSON.stringify(message));
}

/** Frames stored messages; `message` is set when the text was parsed before. */
export function frameStoredMessages(
  format: Format,
  rows: readonly { readonly text: string; readonly message: Message | undefined }[],
): string | Buffer {
  if (format === 'ws') return Buffer.concat(rows.map(({ text }) => buildWebSocketFrame(text)));
  return rows.map(({ text, message }) => frameStoredMessage(format, text, message)).join('');
}

function frameStoredMessage(format: TextFormat, text: string, message: Message | undefined): string {
  // Only raw needs the parsed message; stored messages have no event line in SSE.
  if (format === 'json') return `${text}\n`;
  return format === 'sse' ? `data: ${text}\n\n` : formatRawLine(message ?? parseStoredMessage(text));
}

function frameText(format: TextFormat, text: string, message: Message): string {
  const { event } = message;
  // EventSource delivers named events to other listeners than onmessage, where clients expect messages.
  const isNamed = event === 'open' || event === 'keepalive' || event === 'poll_request';
  return format === 'sse' && isNamed ? `event: ${event}\ndata: ${text}\n\n` : frameStoredMessage(format, text, message);
}

function formatRawLine(message: Message): string {
  return message.event === 'message' ? `${(message.message ?? '').replaceAll('\n', ' ')}\n` : '\n';
}
