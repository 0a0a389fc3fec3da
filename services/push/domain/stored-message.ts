import type { Message } from './message.ts';

/** Parses text that was written by JSON.stringify from a Message. */
export function parseStoredMessage(text: string): Message {
  return JSON.parse(text) as Message;
}
