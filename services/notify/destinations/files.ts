import type { Attachment } from '../domain/message.ts';
import type { FilePart } from './http.ts';

type Files = readonly Attachment[] | undefined;

/** Files as the peer puts them into JSON. */
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

/** Files as parts of a form; `field` names the part of the file with that number, from 0. */
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

/** `file01`, `file02`, … as the peer names parts. */
export function formatPartName(index: number): string {
  return `file${String(index + 1).padStart(2, '0')}`;
}

/** The same for services that are told no type: they look for themselves. */
export async function untypedParts(files: Files, field: (index: number) => string): Promise<readonly FilePart[]> {
  return (await fileParts(files, field)).map((part) => ({ ...part, type: undefined }));
}
