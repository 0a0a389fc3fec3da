import { Readable } from 'node:stream';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { BlobRange } from '../../../../services/contracts/blobs.ts';
import { toStoreProblem } from './s3-errors.ts';

/** Attempts to continue without any progress. */
const maxContinuations = 2;

interface ObjectAddress {
  readonly Bucket: string;
  readonly Key: string;
}

interface OpenedObject {
  readonly body: Readable;
  /** Length of the body in bytes. */
  readonly length: number;
  readonly etag: string | undefined;
}

/** Content of an object. */
interface ObjectContent {
  readonly content: AsyncIterable<Uint8Array>;
  /** Closes the connection of a content that was not read. */
  readonly close: () => void;
}

/**
 * Opens the content of an object or of a part of it. A connection that ends early, for instance because a slow client
 * paused the transfer, is continued at the same byte of the same version.
 * @throws the error of the client when the object cannot be opened
 */
export async function readObject(
  client: S3Client,
  address: ObjectAddress,
  range: BlobRange | undefined,
): Promise<ObjectContent> {
  const opened = await openObject(client, address, range, undefined);
  const content = readOn(client, address, range?.start ?? 0, opened);
  return { content, close: () => void opened.body.destroy() };
}

async function openObject(
  client: S3Client,
  address: ObjectAddress,
  range: BlobRange | undefined,
  etag: string | undefined,
): Promise<OpenedObject> {
  const output = await client.send(
    new GetObjectCommand({
      ...address,
      ...(range === undefined ? {} : { Range: `bytes=${String(range.start)}-${String(range.end)}` }),
      ...(etag === undefined ? {} : { IfMatch: etag }),
    }),
  );
  if (!(output.Body instanceof Readable)) throw new Error('The object has no content.');
  return { body: output.Body, length: output.ContentLength ?? 0, etag: output.ETag };
}

async function* readOn(
  client: S3Client,
  address: ObjectAddress,
  start: number,
  { body, length, etag }: OpenedObject,
): AsyncGenerator<Uint8Array> {
  const end = start + length;
  let content: AsyncIterable<Uint8Array> = body;
  let offset = start;
  for (let attempt = 0; ; attempt += 1) {
    try {
      for await (const chunk of content) {
        offset += chunk.length;
        attempt = 0;
        yield chunk;
      }
      if (offset >= end) return;
    } catch (error) {
      if (attempt === maxContinuations) throw toStoreProblem(error);
    }
    if (attempt === maxContinuations) throw toStoreProblem(new Error('The object ended early.'));
    const range = { start: offset, end: end - 1 };
    ({ body: content } = await openObject(client, address, range, etag).catch((error: unknown) => {
      throw toStoreProblem(error);
    }));
  }
}
