import * as m from '#messages/host-problems';
import { readFile } from 'node:fs/promises';
import { Problem } from '../../../services/contracts/problem.ts';
import type { HostSettings } from '../config/host-settings.ts';

/** Complete settings of an S3-compatible store. */
export interface S3Settings {
  /** `https://s3.example.org`; empty for AWS. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** Empty or with a `/` at its end. */
  readonly prefix: string;
  readonly pathStyle: boolean;
  readonly directDownloads: boolean;
  readonly timeoutSeconds: number;
}

/**
 * Reads the settings of the store and the secret key from its file.
 * @returns undefined without a bucket: blobs are in the data folder.
 * @throws Problem `blobs.settings` (422) without the keys
 */
export async function readS3Settings(host: HostSettings): Promise<S3Settings | undefined> {
  if (host.s3Bucket === '') return undefined;
  const secretKey = host.s3SecretKeyFile === '' ? host.s3SecretKey : await readSecretFile(host.s3SecretKeyFile);
  if (host.s3AccessKey === '' || secretKey === '') throw new Problem('blobs.settings', 422, m.s3KeysMissing);
  const prefix = host.s3Prefix.replaceAll(/^\/+|\/+$/g, '');
  return {
    endpoint: host.s3Endpoint,
    bucket: host.s3Bucket,
    region: host.s3Region,
    accessKey: host.s3AccessKey,
    secretKey,
    prefix: prefix === '' ? '' : `${prefix}/`,
    pathStyle: host.s3PathStyle,
    directDownloads: host.s3DirectDownloads,
    timeoutSeconds: host.s3Timeout,
  };
}

async function readSecretFile(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
    throw new Problem('blobs.settings', 422, () => m.s3SecretFileUnreadable({ file, code }), { cause });
  }
}
