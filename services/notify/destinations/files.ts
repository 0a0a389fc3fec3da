import type { Attachment } from '../domain/message.ts';
import type { FilePart } from './http.ts';

type Files = readonly Attachment[] | undefined;

/** Encodes files in the JSON format of Apprise API. */
export async function encodeFiles(
  files: Files,
): Promise<readonly { readonly filename: string; readonly base64: string; readonly mimetype: string }[]> {
  return Promise.all(
    (files ?? []).map(async ({ name, type, read }) => ({
      filename: name,
      base64: Buffer.from(await read()).toString('base64'),
      mimetype: type,
    })),
  );
}

/** Builds the form parts of files; `field` returns the name of the part with this index, from 0. */
export async function fileParts(files: Files, field: (index: number) => string): Promise<readonly FilePart[]> {
  return Promise.all(
    (files ?? []).map(async ({ name, type, read }, index) => ({
      field: field(index),
      name,
      type,
      bytes: await read(),
    })),
  );
}

/** Returns `file01`, `file02`, … as Apprise names form parts. */
export function formatPartName(index: number): string {
  return `file${String(index + 1).padStart(2, '0')}`;
}

/** Builds form parts without a media type, for services that detect it. */
export async function untypedParts(files: Files, field: (index: number) => string): Promise<readonly FilePart[]> {
  return (await fileParts(files, field)).map((part) => ({ ...part, type: undefined }));
}
