import { S3Client } from '@aws-sdk/client-s3';
import { S3Owner } from './s3-owner.ts';
import type { S3Settings } from '../s3-settings.ts';

/** Client of a bucket. */
export interface S3Connection {
  readonly client: S3Client;
  readonly bucket: string;
  /** Begins the keys of all objects; empty or with a `/` at its end. */
  readonly prefix: string;
  readonly directDownloads: boolean;
  /** Confirmed before objects are written, copied, listed or removed. */
  readonly owner: S3Owner;
}

const connectionTimeoutMs = 5000;
/** Attempts at one request; further ones belong to the caller, who knows how long its client waits. */
const maxAttempts = 2;
const maxSockets = 100;

/** Creates the client. It opens connections with the first request. `installation`: see {@link S3Owner}. */
export function connectS3(settings: S3Settings, installation: string): S3Connection {
  const { endpoint, region, accessKey, secretKey, timeoutSeconds } = settings;
  const timeoutMs = timeoutSeconds * 1000;
  const client = new S3Client({
    ...(endpoint === '' ? {} : { endpoint }),
    region,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    forcePathStyle: settings.pathStyle,
    maxAttempts,
    requestHandler: {
      connectionTimeout: connectionTimeoutMs,
      // Applies while nothing is transferred. A limit for the whole request would fail uploads on slow connections.
      socketTimeout: timeoutMs,
      httpsAgent: { maxSockets },
      httpAgent: { maxSockets },
    },
  });
  const { bucket, prefix, directDownloads } = settings;
  return { client, bucket, prefix, directDownloads, owner: new S3Owner(client, { bucket, prefix }, installation) };
}
