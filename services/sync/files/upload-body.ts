import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';

/** Form with one file, as the engine expects uploads. */
export interface UploadBody {
  readonly body: Readable;
  readonly headers: Record<string, string>;
  /** Returns true once the whole content was read. */
  readonly isComplete: () => boolean;
}

/**
 * Wraps the content of a file into a form without reading it into memory. The form also ends when the content is cut
 * off, so that the engine has finished writing when it responds, and the file can be deleted.
 */
export function buildUploadBody(content: AsyncIterable<Uint8Array>, name: string): UploadBody {
  const boundary = `homeport-${randomUUID()}`;
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n',
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  let isComplete = false;
  async function* join(): AsyncGenerator<Uint8Array> {
    yield head;
    try {
      yield* content;
      isComplete = true;
    } catch {
      // The client has disconnected.
    }
    yield tail;
  }
  return {
    body: Readable.from(join(), { objectMode: false }),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    isComplete: () => isComplete,
  };
}
