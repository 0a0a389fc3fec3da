import { createHash } from 'node:crypto';
import type { WriteBlobOptions, WrittenBlob } from '../../../services/contracts/blobs.ts';
import { buildDamagedProblem, buildMismatchProblem } from './blob-problems.ts';

/** Content of a write, whose size and hash are known when it has been read. */
export class MeasuredContent {
  readonly #content: AsyncIterable<Uint8Array>;
  readonly #expected: WriteBlobOptions;
  readonly #hash = createHash('sha256');
  #size = 0;
  #digest: string | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(content: AsyncIterable<Uint8Array>, expected: WriteBlobOptions) {
    this.#content = content;
    this.#expected = expected;
  }

  /** Error of the content, or of its verification: not of the store. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  /**
   * Reads the content. Fails before its end when it is not the expected one, so that a store never completes it.
   * @throws Problem `blobs.mismatch` (422)
   */
  async *read(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of this.#content) {
        this.#size += chunk.length;
        this.#hash.update(chunk);
        yield chunk;
      }
      this.#digest = this.#hash.digest('hex');
      const { sha256, contentSize } = this.#expected;
      const hasOtherSize = contentSize !== undefined && contentSize !== this.#size;
      if (hasOtherSize || (sha256 !== undefined && sha256 !== this.#digest)) throw buildMismatchProblem();
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }

  /** Returns the size and the hash of the content after it was read. */
  getResult(): WrittenBlob {
    if (this.#digest === undefined) throw new Error('The content has not been read.');
    return { size: this.#size, sha256: this.#digest };
  }
}

/**
 * Passes stored content on, and fails before its end when its hash is not the expected one. The last part follows after
 * the verification, so that no receiver takes damaged content for a complete one.
 * @throws Problem `blobs.damaged` (500)
 */
export async function* verifyContent(content: AsyncIterable<Uint8Array>, sha256: string): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let last: Uint8Array | undefined;
  for await (const chunk of content) {
    hash.update(chunk);
    if (last !== undefined) yield last;
    last = chunk;
  }
  if (hash.digest('hex') !== sha256) throw buildDamagedProblem();
  if (last !== undefined) yield last;
}
