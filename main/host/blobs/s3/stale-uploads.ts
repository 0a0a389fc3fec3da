import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
} from '@aws-sdk/client-s3';
import type { S3Connection } from './s3-connection.ts';
import { toStoreProblem } from './s3-errors.ts';

/** Milliseconds after which an incomplete upload belongs to a host that was ended. */
const maxUploadMs = 24 * 3_600_000;

/**
 * Removes the parts of uploads that a host did not finish, for instance because it was killed. Other programs may use the
 * same bucket, so only uploads of these services are removed.
 * @returns number of removed uploads
 * @throws Problem `blobs.foreign` (503), `blobs.unavailable` (503)
 */
export async function removeStaleUploads(
  connection: S3Connection,
  services: Iterable<string>,
  now: number,
): Promise<number> {
  await connection.owner.confirm();
  let removed = 0;
  for (const service of services) removed += await removeBelow(connection, `${connection.prefix}${service}/`, now);
  return removed;
}

/** Removes the stale uploads whose keys begin with a prefix. */
async function removeBelow({ client, bucket }: S3Connection, prefix: string, now: number): Promise<number> {
  let removed = 0;
  let marker: { readonly KeyMarker?: string; readonly UploadIdMarker?: string } | undefined = {};
  try {
    while (marker !== undefined) {
      const page = await listUploads(client, { Bucket: bucket, Prefix: prefix, ...marker });
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
        if (Initiated === undefined || now - Initiated.getTime() < maxUploadMs) continue;
        await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
        removed += 1;
      }
      marker = getNextMarker(page);
    }
  } catch (error) {
    throw toStoreProblem(error);
  }
  return removed;
}

function listUploads(
  client: S3Connection['client'],
  query: { readonly Bucket: string; readonly Prefix: string },
): Promise<ListMultipartUploadsCommandOutput> {
  return client.send(new ListMultipartUploadsCommand(query));
}

function getNextMarker({ IsTruncated, NextKeyMarker, NextUploadIdMarker }: ListMultipartUploadsCommandOutput) {
  if (IsTruncated !== true || NextKeyMarker === undefined) return undefined;
  return {
    KeyMarker: NextKeyMarker,
    ...(NextUploadIdMarker === undefined ? {} : { UploadIdMarker: NextUploadIdMarker }),
  };
}
