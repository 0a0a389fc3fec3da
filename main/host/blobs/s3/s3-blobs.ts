import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  CopyObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  paginateListObjectsV2,
  type HeadObjectCommandOutput,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import {
  temporaryBlobsFolder,
  type BlobEntry,
  type BlobLinkOptions,
  type Blobs,
  type LocalBlob,
  type ReadBlobOptions,
  type WriteBlobOptions,
  type WrittenBlob,
} from '../../../../services/contracts/blobs.ts';
import { Problem } from '../../../../services/contracts/problem.ts';
import { buildExistsProblem, buildMissingProblem } from '../blob-problems.ts';
import { MeasuredContent, verifyContent } from '../measured-content.ts';
import type { S3Connection } from './s3-connection.ts';
import { isMissing, isPreconditionFailure, toStoreProblem } from './s3-errors.ts';
import { readObject } from './read-object.ts';

const partBytes = 8 * 1024 * 1024;
/** Parts of one upload that are in memory. */
const partsInMemory = 2;
/** Maximum number of parts of an upload (S3). */
const maxParts = 10_000;
/** Maximum number of keys of a request that deletes several objects (S3). */
const maxDeletedKeys = 1000;
/** Maximum size of an object that one request copies (S3). */
const maxCopiedBytes = 5 * 1024 ** 3;
/** Metadata that identifies the write of an object, for a repeated request whose first response was lost. */
const writeIdName = 'homeport-write';

/** Blobs of a service as objects of a bucket. */
export class S3Blobs implements Blobs {
  readonly #connection: S3Connection;
  readonly #prefix: string;
  readonly #folder: string;

  /** `folder` is the local folder of the service, for temporary files. */
  constructor(connection: S3Connection, service: string, folder: string) {
    this.#connection = connection;
    this.#prefix = `${connection.prefix}${service}/`;
    this.#folder = folder;
  }

  async write(key: string, content: AsyncIterable<Uint8Array>, options: WriteBlobOptions = {}): Promise<WrittenBlob> {
    await this.#connection.owner.confirm();
    const { contentSize, isRepair = false } = options;
    const measured = new MeasuredContent(content, options);
    const existing = contentSize === undefined ? undefined : await this.find(key);
    if (existing !== undefined && existing.size === contentSize && !isRepair) {
      // Reads the content nevertheless, because only a client that has it may refer to the blob.
      for await (const _chunk of measured.read());
      return measured.getResult();
    }
    const writeId = randomUUID();
    const upload = new Upload({
      client: this.#connection.client,
      params: {
        ...this.#object(key),
        Body: Readable.from(measured.read()),
        Metadata: { [writeIdName]: writeId },
        ...(existing === undefined ? { IfNoneMatch: '*' } : {}),
      },
      queueSize: partsInMemory,
      partSize: Math.max(partBytes, Math.ceil((contentSize ?? 0) / maxParts)),
    });
    try {
      await upload.done();
    } catch (error) {
      if (measured.failure !== undefined) throw measured.failure.error;
      if (!isPreconditionFailure(error)) throw toStoreProblem(error);
      await this.#acceptExisting(key, writeId, contentSize, error);
    }
    return measured.getResult();
  }

  /** Accepts an object that this write or another write of the same content created. */
  async #acceptExisting(key: string, writeId: string, contentSize: number | undefined, cause: unknown): Promise<void> {
    const head = await this.#head(key);
    if (head?.Metadata?.[writeIdName] === writeId) return;
    if (contentSize === undefined || head?.ContentLength !== contentSize) throw buildExistsProblem(cause);
  }

  async find(key: string): Promise<BlobEntry | undefined> {
    const head = await this.#head(key);
    if (head === undefined) return undefined;
    return { key, size: head.ContentLength ?? 0, modifiedAt: head.LastModified?.getTime() ?? 0 };
  }

  async #head(key: string): Promise<HeadObjectCommandOutput | undefined> {
    try {
      return await this.#connection.client.send(new HeadObjectCommand(this.#object(key)));
    } catch (error) {
      if (!isMissing(error)) throw toStoreProblem(error);
      // The response has no code, and also means that the bucket does not exist.
      await this.#connection.owner.confirm();
      return undefined;
    }
  }

  async read(key: string, { range, sha256 }: ReadBlobOptions = {}): Promise<Readable> {
    try {
      const { content, close } = await readObject(this.#connection.client, this.#object(key), range);
      const verified = range === undefined && sha256 !== undefined ? verifyContent(content, sha256) : content;
      // A generator that was not started does not close what it would read.
      return Readable.from(verified, { objectMode: false }).once('close', close);
    } catch (error) {
      throw isMissing(error) ? buildMissingProblem(error) : toStoreProblem(error);
    }
  }

  async copy(from: string, to: string): Promise<boolean> {
    await this.#connection.owner.confirm();
    const source = await this.find(from);
    if (source === undefined) return false;
    if ((await this.find(to)) !== undefined) throw buildExistsProblem();
    if (source.size > maxCopiedBytes) {
      await this.write(to, await this.read(from));
      return true;
    }
    const { Bucket, Key } = this.#object(from);
    const CopySource = [Bucket, ...Key.split('/')].map(encodeURIComponent).join('/');
    try {
      await this.#connection.client.send(new CopyObjectCommand({ ...this.#object(to), CopySource }));
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw toStoreProblem(error);
    }
  }

  async remove(keys: readonly string[]): Promise<void> {
    const { client, bucket, owner } = this.#connection;
    if (keys.length > 0) await owner.confirm();
    for (let index = 0; index < keys.length; index += maxDeletedKeys) {
      const Objects = keys.slice(index, index + maxDeletedKeys).map((key) => ({ Key: this.#object(key).Key }));
      const command = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } });
      const { Errors: [failure] = [] } = await client.send(command).catch((error: unknown) => {
        throw toStoreProblem(error);
      });
      if (failure !== undefined) throw toStoreProblem(Object.assign(new Error(), { name: failure.Code ?? 'unknown' }));
    }
  }

  async removeFolder(folder: string): Promise<void> {
    let keys: string[] = [];
    for await (const { key } of this.list(folder)) {
      keys.push(key);
      if (keys.length < maxDeletedKeys) continue;
      await this.remove(keys);
      keys = [];
    }
    await this.remove(keys);
  }

  async *list(folder: string): AsyncGenerator<BlobEntry> {
    const { client, bucket, owner } = this.#connection;
    await owner.confirm();
    try {
      const query = { Bucket: bucket, Prefix: `${this.#object(folder).Key}/` };
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, query)) {
        for (const { Key = '', Size = 0, LastModified } of Contents) {
          const key = Key.slice(this.#prefix.length);
          yield { key, size: Size, modifiedAt: LastModified?.getTime() ?? 0 };
        }
      }
    } catch (error) {
      throw toStoreProblem(error);
    }
  }

  async openFile(key: string): Promise<LocalBlob | undefined> {
    const incoming = join(this.#folder, temporaryBlobsFolder);
    await mkdir(incoming, { recursive: true, mode: 0o700 });
    const path = join(incoming, randomUUID());
    const remove = (): Promise<void> => rm(path, { force: true });
    const content = await this.read(key).catch((error: unknown) => {
      if (error instanceof Problem && error.code === 'blobs.missing') return undefined;
      throw error;
    });
    if (content === undefined) return undefined;
    try {
      await pipeline(content, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    } catch (error) {
      await remove();
      throw error;
    }
    return { path, [Symbol.asyncDispose]: remove };
  }

  getPath(): undefined {
    return undefined;
  }

  async link(key: string, { type, disposition, lifetime }: BlobLinkOptions): Promise<string | undefined> {
    const { client, directDownloads } = this.#connection;
    if (!directDownloads) return undefined;
    const command = new GetObjectCommand({
      ...this.#object(key),
      ResponseContentType: type,
      ResponseContentDisposition: disposition,
    });
    return getSignedUrl(client, command, { expiresIn: lifetime });
  }

  #object(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#connection.bucket, Key: `${this.#prefix}${key}` };
  }
}
