import { createCipheriv, createDecipheriv } from 'node:crypto';
import { z } from 'zod';
import type { Vault } from '../../../services/contracts/service.ts';
import { LruMap } from '../../../services/kit/lru-map.ts';
import type { Message } from './frames.ts';

/** Number of the event, or of the last one before a message without an event. It increases by one with each event. */
const event = z.int().nonnegative();
const hosts = z.array(z.string().max(32)).max(2000).default([]);

/** Content of a message between hosts. Receivers ignore kinds and fields that they do not know. */
const Content = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('event'), event, topic: z.string().min(1).max(200), data: z.unknown() }),
  /**
   * Sent regularly, so that other hosts notice lost events and the end of a host. The hosts in `requests` answer with a
   * message that has the id of the sender in `answers`, which proves that they are running.
   */
  z.object({ kind: z.literal('beat'), event, requests: hosts, answers: hosts }),
  /** Sent by a host that stops. */
  z.object({ kind: z.literal('end'), event }),
]);
export type Content = z.infer<typeof Content>;

const algorithm = 'aes-256-gcm';
const tagBytes = 16;
const maxKeys = 1000;

/**
 * Encrypts contents with keys that are derived from the vault's key, which all hosts of an installation share. Each
 * start of a host has its own key, and the number of a message is its nonce, so no nonce is used twice.
 */
export class ContentCodec {
  readonly #vault: Vault;
  readonly #keys = new LruMap<string, Buffer>(maxKeys);

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  encode(content: Content, host: string, number: number): string {
    const cipher = createCipheriv(algorithm, this.#getKey(host), getNonce(number), { authTagLength: tagBytes });
    const text = JSON.stringify(content);
    return Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64');
  }

  /**
   * Returns undefined for a kind that this version does not know.
   * @throws Error when no host of this installation sent the text with this number.
   */
  decode({ host, number, text }: Message): Content | undefined {
    const bytes = Buffer.from(text, 'base64');
    const decipher = createDecipheriv(algorithm, this.#getKey(host), getNonce(number), { authTagLength: tagBytes });
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    const json = Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]).toString('utf8');
    const read = Content.safeParse(JSON.parse(json));
    return read.success ? read.data : undefined;
  }

  #getKey(host: string): Buffer {
    const existing = this.#keys.get(host);
    if (existing !== undefined) return existing;
    const key = Buffer.from(this.#vault.fingerprint(host, 'host.relay'), 'hex');
    this.#keys.set(host, key);
    return key;
  }
}

function getNonce(number: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(number), 4);
  return nonce;
}
