import * as m from '#messages/host-problems';
import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { Problem } from '../../../../services/contracts/problem.ts';
import { isMissing, isPreconditionFailure, toStoreProblem } from './s3-errors.ts';

/** Object that names the installation whose blobs are in the bucket. */
const markerName = 'homeport-installation';

/**
 * Checks that the objects belong to this installation. Another one would delete them as orphans, because its database has no
 * rows for them.
 */
export class S3Owner {
  readonly #client: S3Client;
  readonly #marker: { readonly Bucket: string; readonly Key: string };
  readonly #installation: string;
  #isConfirmed = false;

  /** `installation`: the same for all hosts of an installation. `prefix` begins the keys of all objects. */
  constructor(client: S3Client, { bucket, prefix }: { bucket: string; prefix: string }, installation: string) {
    this.#client = client;
    this.#marker = { Bucket: bucket, Key: `${prefix}${markerName}` };
    this.#installation = installation;
  }

  /**
   * Confirms the installation once, and takes possession of an empty bucket.
   * @throws Problem `blobs.foreign` (503), `blobs.unavailable` (503)
   */
  async confirm(): Promise<void> {
    if (!this.#isConfirmed) await this.check();
  }

  /** Does the same as {@link confirm} with a request each time. */
  async check(): Promise<void> {
    const owner = (await this.#read()) ?? (await this.#create());
    this.#isConfirmed = owner === this.#installation;
    if (!this.#isConfirmed) throw new Problem('blobs.foreign', 503, m.s3Foreign, { retryable: false });
  }

  /** Returns the stored installation, or undefined without one. */
  async #read(): Promise<string | undefined> {
    try {
      const { Body } = await this.#client.send(new GetObjectCommand(this.#marker));
      return await Body?.transformToString();
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw toStoreProblem(error);
    }
  }

  /** Stores this installation unless another host was faster. Returns the stored one. */
  async #create(): Promise<string | undefined> {
    try {
      const Body = this.#installation;
      await this.#client.send(new PutObjectCommand({ ...this.#marker, Body, IfNoneMatch: '*' }));
      return this.#installation;
    } catch (error) {
      if (isPreconditionFailure(error)) return this.#read();
      throw toStoreProblem(error);
    }
  }
}
